// accept: which of what a server can send a client likes best (RFC 9110 section 12).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace martlet::inline v0::http {

/// The place in `offered` of the media type that `accept`, the value of Accept, likes best; nothing when it takes none (then 406, or the first
/// all the same). Of what it likes alike the first offered wins; so an Accept that is empty or not there takes the first. What is offered are
/// media types, perhaps with parameters; a more special range goes before a less special one, and elements that are none are passed over.
std::optional<std::size_t> best_type_of(std::optional<std::string_view> accept, std::span<const std::string_view> offered) noexcept;

/// The same for Accept-Encoding (RFC 9110 section 12.5.3); offered are codings in the order that the server likes them. `identity` is taken
/// when nothing better is, unless it was refused; without the field it is the only one taken. "x-gzip" and "gzip" are one.
std::optional<std::size_t> best_coding_of(std::optional<std::string_view> accept_encoding,
                                          std::span<const std::string_view> offered) noexcept;

/// The same with what is offered as arguments: `best_of(value, "application/json", "text/html")`.
template <class... Offered>
std::optional<std::size_t> best_of(std::optional<std::string_view> accept, const Offered&... offered) noexcept {
    const std::string_view all[] = {std::string_view(offered)...};
    return best_type_of(accept, all);
}

/// A weight in thousandths (RFC 9110 section 12.4.2), "0.5" is 500; -1 when `text` is none.
int weight_of(std::string_view text) noexcept;

}  // namespace martlet::inline v0::http
