#include <martlet/server/limits.hpp>

#include <martlet/wire/http1/limits.hpp>

namespace martlet::inline v0::server {

limits::limits() noexcept {
    const http1::head_limits head;
    request_line_bytes_max_ = head.request_line_bytes_max();
    head_bytes_max_ = head.head_bytes_max();
    fields_max_ = head.fields_max();
    field_bytes_max_ = head.field_bytes_max();
}

}  // namespace martlet::inline v0::server
