// Any Set-Cookie is read or ignored; what is read keeps its bounds, and a date that is one is the same date written plainly.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/http/date.hpp>
#include <martlet/wire/http/received_cookie.hpp>

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace http = martlet::http;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    constexpr std::int64_t now = 1500000000;
    if (const auto seconds = http::parse_cookie_date(text)) {
        char out[http::date_bytes];
        http::write_date(out, *seconds);
        require(http::parse_cookie_date({out, sizeof(out)}) == *seconds);
    }
    const auto got = http::received_cookie::parse(text, now);
    if (!got) return 0;
    require(!got->name().empty() && got->name().size() + got->value().size() <= http::cookie_bytes_max);
    require(got->name().find_first_of("=;") == std::string_view::npos && got->value().find(';') == std::string_view::npos);
    if (got->path()) require(got->path()->starts_with('/') && got->path()->size() <= http::cookie_attribute_bytes_max);
    if (got->domain()) require(!got->domain()->empty());
    if (got->expires()) require(*got->expires() <= now + http::cookie_age_seconds_max);

    http::set_cookie again(got->name(), got->value());
    if (got->path()) again.path(*got->path());
    if (got->domain()) again.domain(*got->domain());
    again.secure(got->is_secure()).http_only(got->is_http_only()).same_site(got->same_site()).partitioned(got->is_partitioned());
    if (const auto written = again.text()) {
        const auto back = http::received_cookie::parse(*written, now);
        require(back && back->name() == got->name() && back->value() == got->value() && back->path() == got->path());
        require(back->domain() == got->domain() && back->is_secure() == got->is_secure() && back->same_site() == got->same_site());
    }
    return 0;
}
