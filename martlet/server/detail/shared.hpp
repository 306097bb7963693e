// What all loops of one server share: settings that no longer change, and the counters of the whole process.
#pragma once

#include <atomic>
#include <cstdint>

#include <martlet/rt/blocking_pool.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/server/observer.hpp>
#include <martlet/server/router.hpp>
#include <martlet/wire/http1/limits.hpp>

namespace martlet::inline v0::server::detail {

class shared {
public:
    shared(const router& routes, const limits& bounds, observer* watcher)
        : app(routes),
          bounds(bounds),
          head_bounds(http1::head_limits()
                          .request_line_bytes_max(bounds.request_line_bytes_max())
                          .head_bytes_max(bounds.head_bytes_max())
                          .fields_max(bounds.fields_max())
                          .field_bytes_max(bounds.field_bytes_max())),
          watcher(watcher) {}

    const router& app;
    const limits bounds;
    const http1::head_limits head_bounds;
    const http1::content_limits content_bounds;
    observer* const watcher;
    // Without a thread until the first work.
    blocking_pool pool;

    std::atomic<std::uint32_t> connections{0};
    std::atomic<std::uint64_t> connections_accepted{0};
    std::atomic<std::uint64_t> connections_refused{0};
};

}  // namespace martlet::inline v0::server::detail
