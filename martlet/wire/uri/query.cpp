#include <martlet/wire/uri/query.hpp>

namespace martlet::inline v0::uri {

query_pair::query_pair(std::string_view text) noexcept {
    const std::size_t equals = text.find('=');
    has_value_ = equals != std::string_view::npos;
    name_ = text.substr(0, equals);
    if (has_value_) value_ = text.substr(equals + 1);
}

std::string_view query_view::next(std::string_view& rest) noexcept {
    while (rest.starts_with('&')) rest.remove_prefix(1);
    if (rest.empty()) return {};
    const std::string_view piece = rest.substr(0, rest.find('&'));
    rest.remove_prefix(piece.size());
    return piece;
}

std::optional<query_pair> query_view::find(std::string_view name) const noexcept {
    for (const query_pair& pair : *this) {
        if (pair.is_named(name)) return pair;
    }
    return std::nullopt;
}

}  // namespace martlet::inline v0::uri
