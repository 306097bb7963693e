#include <martlet/wire/http1/request_encoder.hpp>

#include <cstring>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/authority.hpp>
#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1 {

namespace {

std::unexpected<error> misused(errc code) noexcept { return failure(error(category, static_cast<int>(code), blame::local)); }

char* put(char* out, std::string_view what) noexcept {
    if (!what.empty()) std::memcpy(out, what.data(), what.size());
    return out + what.size();
}

// Fields that are about one connection and are not named in the table as framing.
bool is_of_connection(http::token name) noexcept {
    const http::field_id id = http::field_id_of(name.text());
    if (id == http::field_id::other) return scan::equal_ignoring_case(name.text(), "Proxy-Connection");
    return http::is_framing(id) && id != http::field_id::trailer;
}

}  // namespace

result<request_start> request_start::make(std::string_view method, std::string_view target, std::string_view host) noexcept {
    if (!scan::is_token(method)) return misused(errc::bad_method);
    if (method.size() > head_limits().method_bytes_max()) return misused(errc::method_too_long);
    if (target.empty()) return misused(errc::bad_target);
    if (target.size() > target_bytes_max) return misused(errc::target_too_long);

    // The judge of targets that are received; offsets are those of the target alone.
    detail::head_data head;
    head.base = target.data();
    head.line.method = http::method_of(method);
    detail::limit_numbers limits;
    limits.encrypted = target.size() > 6 && scan::equal_ignoring_case(target.substr(0, 6), "https:");
    if (const errc why = detail::parse_target(target, limits, head); why != errc::none) return misused(why);
    const auto named = http::authority::parse(host);
    if (!named) return misused(errc::bad_host);
    if (head.line.form == target_form::absolute) {
        const auto wanted = http::authority::parse({head.base + head.host_offset, head.host_bytes});
        const std::uint16_t usual = limits.encrypted ? 443 : 80;
        const bool same =
            wanted && scan::equal_ignoring_case(wanted->host(), named->host()) && wanted->port_or(usual) == named->port_or(usual);
        if (!same) return misused(errc::host_mismatch);
    }
    return request_start(method, target, host);
}

char* try_encode_request_head(char* out, const request_start& start, const request_options& options, std::string_view extra) noexcept {
    const http::method method = start.method();
    const body_framing content = options.content();
    if (content.is_until_close()) return nullptr;
    if (!content.is_none() && (method == http::method::connect || method == http::method::trace)) return nullptr;

    out = put(out, start.method_text());
    *out++ = ' ';
    out = put(out, start.target());
    out = put(out, " HTTP/1.1\r\nHost: ");
    out = put(out, start.host());
    out = put(out, "\r\n");

    const bool means_content = method == http::method::post || method == http::method::put || method == http::method::patch;
    if (content.is_length() || (content.is_none() && means_content)) {
        out = put(out, "Content-Length: ");
        out = put(encode_decimal(out, content.bytes()), "\r\n");
    } else if (content.is_chunked()) {
        out = put(out, "Transfer-Encoding: chunked\r\n");
    }
    if (options.expect_continue() && !content.is_empty()) out = put(out, "Expect: 100-continue\r\n");

    const std::string_view protocol = options.protocol().text();
    std::string_view between = "Connection: ";
    const auto add_option = [&](std::string_view option) {
        out = put(out, between);
        out = put(out, option);
        between = ", ";
    };
    if (options.close()) add_option("close");
    if (!protocol.empty()) add_option("Upgrade");
    if (options.take_trailers()) add_option("TE");
    if (between == ", ") out = put(out, "\r\n");
    if (!protocol.empty()) {
        out = put(out, "Upgrade: ");
        out = put(out, protocol);
        out = put(out, "\r\n");
    }
    if (options.take_trailers()) out = put(out, "TE: trailers\r\n");
    out = put(out, extra);
    return put(out, "\r\n");
}

char* try_encode_request_field(char* out, http::token name, http::field_value value) noexcept {
    if (is_of_connection(name)) return nullptr;
    return encode_field(out, name, value);
}

}  // namespace martlet::inline v0::http1
