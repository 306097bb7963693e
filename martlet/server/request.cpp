#include <martlet/server/request.hpp>

#include <martlet/server/route.hpp>
#include <martlet/wire/http/cookie.hpp>
#include <martlet/wire/http/media_type.hpp>
#include <martlet/wire/uri/percent.hpp>
#include <martlet/wire/uri/query.hpp>

namespace martlet::inline v0::server {

namespace {

error bad_escape(input_source from, std::string_view name) noexcept {
    return input_error(from, name, "must have two hexadecimal digits after each '%'");
}

}  // namespace

result<std::string_view> request::param_text(std::string_view name, std::string& scratch) const {
    const path_params& found = of_.params();
    const route* const of = found.of();
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (of->param_names()[i] != name) continue;
        const std::string_view sent = found.at(i, of_.path());
        if (of->has_rest() && i + 1 == found.size()) return sent;
        const auto text = uri::decode(sent, scratch);
        if (!text) return failure(bad_escape(input_source::path, name));
        return *text;
    }
    return failure(make_error(exchange_errc::no_such_param));
}

std::string_view request::rest() const noexcept {
    const path_params& found = of_.params();
    if (found.of() == nullptr || !found.of()->has_rest()) return {};
    return found.at(found.size() - 1, of_.path());
}

result<std::optional<std::string_view>> request::query_text(std::string_view name, std::string& scratch) const {
    const auto pair = uri::query_view(of_.query()).find(name);
    if (!pair) return std::nullopt;
    const auto text = pair->value(scratch);
    if (!text) return failure(bad_escape(input_source::query, name));
    return *text;
}

// RFC 6265 section 5.4 has one Cookie field, but several come through proxies.
std::optional<std::string_view> request::cookie(std::string_view name) const noexcept {
    if (!of_.field(http::field_id::cookie)) return std::nullopt;
    for (std::size_t i = 0; i < of_.field_count(); ++i) {
        const field_line line = of_.field_at(i);
        if (http::field_id_of(line.name) != http::field_id::cookie) continue;
        if (const auto found = http::cookie_view(line.value).find(name)) return found->value();
    }
    return std::nullopt;
}

result<form_data> request::form(std::string_view content) const {
    constexpr std::string_view form_type = "application/x-www-form-urlencoded";
    const auto sent = of_.field(http::field_id::content_type);
    const auto type = http::media_type::parse(sent.value_or(std::string_view()));
    if (!type || !type->is(form_type))
        return failure(input_error(input_source::field, "Content-Type", "must be application/x-www-form-urlencoded", 415));
    auto read = uri::form::parse(content);
    if (!read) return failure(read.error());
    return form_data(std::move(*read));
}

}  // namespace martlet::inline v0::server
