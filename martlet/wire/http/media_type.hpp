// media_type: a media type with its parameters, as in Content-Type (RFC 9110 section 8.3).
#pragma once

#include <optional>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/wire/http/field_list.hpp>

namespace martlet::inline v0::http {

/// `type "/" subtype parameters`. Borrows the bytes it was parsed from.
class media_type {
public:
    /// `bad_media_type`, blamed on the peer, when `value` is none.
    static result<media_type> parse(std::string_view value) noexcept;

    std::string_view type() const noexcept { return essence_.substr(0, slash_); }
    std::string_view subtype() const noexcept { return essence_.substr(slash_ + 1); }
    /// Type and subtype, case as received: "text/html".
    std::string_view essence() const noexcept { return essence_; }
    /// `essence` is type and subtype but for case.
    bool is(std::string_view essence) const noexcept;

    /// The first parameter of that name, compared without case: `charset`, `boundary`.
    std::optional<http::parameter> parameter(std::string_view name) const noexcept;
    /// All parameters in their order.
    parameter_reader parameters() const noexcept { return parameter_reader(parameters_); }

private:
    media_type(std::string_view essence, std::size_t slash, std::string_view parameters) noexcept
        : essence_(essence), parameters_(parameters), slash_(slash) {}

    std::string_view essence_;
    std::string_view parameters_;
    std::size_t slash_;
};

}  // namespace martlet::inline v0::http
