// Any text is a date or none; one that is comes back through the format that is written.
#include <martlet/wire/http/date.hpp>

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace http = martlet::http;
    std::int64_t now = 0;
    if (size < sizeof(now)) return 0;
    std::memcpy(&now, data, sizeof(now));
    const std::string_view text(reinterpret_cast<const char*>(data) + sizeof(now), size - sizeof(now));

    char out[http::date_bytes];
    http::write_date(out, now);
    const auto again = http::parse_date({out, sizeof(out)}, now);
    if (!again || *again < http::date_seconds_min || *again > http::date_seconds_max) std::abort();
    if (now >= http::date_seconds_min && now <= http::date_seconds_max && *again != now) std::abort();

    if (const auto seconds = http::parse_date(text, now)) {
        if (*seconds < http::date_seconds_min || *seconds > http::date_seconds_max) std::abort();
        http::write_date(out, *seconds);
        if (http::parse_date({out, sizeof(out)}, 0) != *seconds) std::abort();
    }
    return 0;
}
