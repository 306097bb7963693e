#include <martlet/wire/uri/query.hpp>

namespace martlet::inline v0::uri {

query_pair::query_pair(std::string_view text) noexcept {
    const std::size_t equals = text.find('=');
    has_value_ = equals != std::string_view::npos;
    name_ = text.substr(0, equals);
    if (has_value_) value_ = text.substr(equals + 1);
}

void query_view::iterator::advance() noexcept {
    while (rest_.starts_with('&')) rest_.remove_prefix(1);
    if (rest_.empty()) {
        at_ = nullptr;
        return;
    }
    const std::string_view piece = rest_.substr(0, rest_.find('&'));
    at_ = piece.data();
    pair_ = query_pair(piece);
    rest_.remove_prefix(piece.size());
}

std::optional<query_pair> query_view::find(std::string_view name) const noexcept {
    for (const query_pair& pair : *this) {
        if (pair.is_named(name)) return pair;
    }
    return std::nullopt;
}

}  // namespace martlet::inline v0::uri
