// Any text is a row of cookies; each that could be set again is read back as it was.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/http/cookie.hpp>
#include <martlet/wire/http/field_value.hpp>
#include <martlet/wire/http/set_cookie.hpp>

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace http = martlet::http;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto all = http::cookie_view::parse(text, http::cookie_limits().cookies_max(size));
    require(all.has_value());
    std::size_t count = 0;
    for (const http::cookie& one : *all) {
        ++count;
        require(one.value().find(';') == std::string_view::npos && one.name().find_first_of(";=") == std::string_view::npos);
        require(all->find(one.name()).has_value());
        const auto set = http::set_cookie(one.name(), one.value()).path("/").secure().text();
        if (!set) continue;
        require(http::field_value::is_valid(*set));
        const auto again = http::cookie_view::parse(*set).value().find(one.name());
        require(again && again->value() == one.value());
    }
    require(http::cookie_view::parse(text, http::cookie_limits().cookies_max(count)).has_value());
    if (count > 0) require(!http::cookie_view::parse(text, http::cookie_limits().cookies_max(count - 1)));

    const std::size_t half = size / 2;
    const auto set = http::set_cookie("n", text.substr(0, half)).path(text.substr(half)).text();
    if (set) require(http::field_value::is_valid(*set) && set->find(';') == half + 2);
    return 0;
}
