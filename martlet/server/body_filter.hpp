// body_filter: what stands between the bytes that a handler sends and their framing.
#pragma once

#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0 {
class outq;
}

namespace martlet::inline v0::server {

/// Changes the content of one answer, a compression for example. Made for that answer, used on its loop and destroyed with the exchange.
class body_filter {
public:
    virtual ~body_filter() = default;
    /// Takes the next piece, and appends what is ready to be sent. An error ends the answer as not whole.
    virtual result<void> put(std::string_view content, outq& out) = 0;
    /// The content is complete: appends what is left.
    virtual result<void> end(outq& out) = 0;
};

}  // namespace martlet::inline v0::server
