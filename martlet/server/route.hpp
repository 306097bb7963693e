// route: one pattern of paths and its handlers by method.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/handler.hpp>
#include <martlet/server/route_options.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::server {

class fixed_points;

/// Owned by its router, and not changed while the server runs.
class route {
public:
    /// The pattern as it was given: "/users/:id/files/*rest".
    const std::string& path() const noexcept { return path_; }
    /// The handler for `method`: for HEAD without one of its own, that of GET. Null when there is none.
    const handler* find(http::method method) const noexcept {
        const entry* of = by_method_[index_of(method)];
        return of != nullptr ? of->run.get() : nullptr;
    }
    /// The same when calling it is all there is to do: a plain handler with nothing around it. Null for any other.
    const handler* find_quick(http::method method) const noexcept { return quick_[index_of(method)]; }
    /// What was said with the handler for `method`; the defaults where there is none.
    const route_options& options(http::method method) const noexcept;
    /// What runs around the handler for `method`, or around the answer that there is none. Null for nothing.
    const fixed_points* points(http::method method) const noexcept { return points_[index_of(method)]; }
    /// The value of Allow: "GET, HEAD, OPTIONS".
    const std::string& allow() const noexcept { return allow_; }

    /// The names of its parameters in the order of the path; that of `*rest` is the last.
    const std::vector<std::string>& param_names() const noexcept { return param_names_; }
    bool has_rest() const noexcept { return has_rest_; }

private:
    friend class router;
    // `other` has a place too, which stays empty: no request's method needs a comparison.
    static constexpr std::size_t method_count = static_cast<std::size_t>(http::method::other);
    static constexpr std::size_t index_of(http::method method) noexcept { return static_cast<std::size_t>(method); }

    /// A handler; the same one where a router is mounted more than once.
    struct entry {
        std::shared_ptr<const handler> run;
        route_options how;
        std::size_t group = 0;
    };

    std::array<const handler*, method_count + 1> quick_{};
    std::array<const entry*, method_count + 1> by_method_{};
    std::array<const fixed_points*, method_count + 1> points_{};
    std::string path_;
    std::string allow_;
    std::vector<std::string> param_names_;
    bool has_rest_ = false;
    std::size_t group_ = 0;  // that of the first handler
    std::array<entry, method_count> entries_;
};

}  // namespace martlet::inline v0::server
