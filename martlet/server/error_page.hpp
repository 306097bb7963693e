// error_page: the content of an answer that says what went wrong, in the form that the client asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/server/exchange.hpp>
#include <martlet/wire/http/content_type.hpp>

namespace martlet::inline v0::server {

/// Made without memory of its own, since it may be memory that is out. Names nothing that was not given to it.
class error_page {
public:
    /// The form is chosen by `accept`, the value of Accept: problem details in JSON (RFC 9457) for one that takes JSON, HTML for one that
    /// takes HTML, and plain text for all others and without one. `detail` may be empty; more than `detail_bytes_max` of it is cut.
    error_page(int status, std::string_view detail, std::optional<std::string_view> accept) noexcept;
    error_page(const error_page&) = delete;
    error_page& operator=(const error_page&) = delete;

    http::content_type type() const noexcept { return type_; }
    std::string_view content() const noexcept { return {bytes_, size_}; }

    static constexpr std::size_t detail_bytes_max = 512;

private:
    enum class form : unsigned char { text, html, json };
    static form form_for(std::optional<std::string_view> accept) noexcept;
    void put(std::string_view text) noexcept;
    void put_escaped(std::string_view text, form as) noexcept;

    static constexpr std::size_t escaped_bytes_max = 6;
    char bytes_[escaped_bytes_max * detail_bytes_max + 512];
    std::size_t size_ = 0;
    http::content_type type_;
};

/// Answers `x` with the page of `status`, and `fields` in wire form.
exchange_errc respond_error(exchange& x, int status, std::string_view detail = {}, std::string_view fields = {}) noexcept;

/// What a peer may be told of `why`: the text of an input_error, which is made for it, and nothing of all others. What went wrong in a server
/// is not its peer's business.
std::string_view public_detail(const error& why) noexcept;

/// Problem details in JSON (RFC 9457) with a detail of any length.
std::string problem_json(int status, std::string_view detail);
inline constexpr http::field_value problem_json_type = http::field_value::literal("application/problem+json");

}  // namespace martlet::inline v0::server
