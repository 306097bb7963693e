// content_type: the value of Content-Type, by id for the usual ones or any checked value.
#pragma once

#include <cstdint>
#include <string_view>

#include <martlet/wire/http/field_value.hpp>

namespace martlet::inline v0::http {

/// The content types that are encoded beforehand.
enum class media : std::uint8_t { none, text, html, json, javascript, css, xml, svg, png, jpeg, webp, bytes, event_stream, custom };

/// A content type, or none. Two registers.
class content_type {
public:
    /// No Content-Type field.
    constexpr content_type() noexcept = default;
    /// One of the usual types. `custom` is made from a value only.
    constexpr content_type(media id) noexcept : id_(id == media::custom ? media::none : id) {}
    /// Any other; borrows `value`.
    constexpr explicit content_type(field_value value) noexcept
        : text_(value.text().data()), bytes_(static_cast<std::uint32_t>(value.text().size())), id_(media::custom) {}

    constexpr media id() const noexcept { return id_; }
    /// The value of a custom type; empty for the rest.
    constexpr std::string_view value() const noexcept { return {text_, bytes_}; }

private:
    const char* text_ = nullptr;
    std::uint32_t bytes_ = 0;
    media id_ = media::none;
};
static_assert(sizeof(content_type) == 16);

/// The value that `id` stands for: "text/plain; charset=utf-8". Empty for `none` and `custom`.
constexpr std::string_view text(media id) noexcept {
    switch (id) {
    case media::text: return "text/plain; charset=utf-8";
    case media::html: return "text/html; charset=utf-8";
    case media::json: return "application/json";
    case media::javascript: return "text/javascript; charset=utf-8";
    case media::css: return "text/css; charset=utf-8";
    case media::xml: return "application/xml";
    case media::svg: return "image/svg+xml";
    case media::png: return "image/png";
    case media::jpeg: return "image/jpeg";
    case media::webp: return "image/webp";
    case media::bytes: return "application/octet-stream";
    case media::event_stream: return "text/event-stream";
    case media::none:
    case media::custom: break;
    }
    return {};
}

}  // namespace martlet::inline v0::http
