#include <martlet/wire/uri/form.hpp>

#include <martlet/wire/uri/error.hpp>
#include <martlet/wire/uri/query.hpp>

namespace martlet::inline v0::uri {

namespace {

constexpr std::size_t pairs_at_first = 8;

}  // namespace

result<form> form::parse(std::string_view text, const form_limits& limits) {
    form made;
    made.text_.reserve(text.size());
    made.pairs_.reserve(pairs_at_first);
    for (const query_pair& raw : query_view(text)) {
        if (made.pairs_.size() == limits.pairs_max()) return failure(make_error(errc::too_many_pairs, blame::peer));
        const std::size_t from = made.text_.size();
        const bool has_name = append_decoded(made.text_, raw.raw_name(), plus_sign::space);
        const std::size_t value_from = made.text_.size();
        if (!has_name || !append_decoded(made.text_, raw.raw_value(), plus_sign::space))
            return failure(make_error(errc::bad_escape, blame::peer));
        made.pairs_.push_back({from, value_from - from, made.text_.size() - value_from});
    }
    return made;
}

std::string_view form::name(std::size_t index) const noexcept {
    const pair& at = pairs_[index];
    return std::string_view(text_).substr(at.from, at.name_bytes);
}

std::string_view form::value(std::size_t index) const noexcept {
    const pair& at = pairs_[index];
    return std::string_view(text_).substr(at.from + at.name_bytes, at.value_bytes);
}

std::optional<std::string_view> form::find(std::string_view wanted) const noexcept {
    for (std::size_t i = 0; i < size(); ++i) {
        if (name(i) == wanted) return value(i);
    }
    return std::nullopt;
}

form_writer& form_writer::add(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += '&';
    append_encoded(text_, name, component::form);
    text_ += '=';
    append_encoded(text_, value, component::form);
    return *this;
}

}  // namespace martlet::inline v0::uri
