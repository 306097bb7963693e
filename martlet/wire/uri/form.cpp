#include <martlet/wire/uri/form.hpp>

#include <martlet/wire/uri/error.hpp>
#include <martlet/wire/uri/query.hpp>

namespace martlet::inline v0::uri {

result<form> form::parse(std::string_view text, const form_limits& limits) {
    form made;
    made.text_.reserve(text.size());
    std::string space;
    for (const query_pair& raw : query_view(text)) {
        if (made.pairs_.size() == limits.pairs_max()) return failure(make_error(errc::too_many_pairs, blame::peer));
        const std::size_t from = made.text_.size();
        const result<std::string_view> name = raw.name(space);
        if (!name) return failure(name.error());
        const std::size_t name_bytes = name->size();
        made.text_ += *name;
        const result<std::string_view> value = raw.value(space);
        if (!value) return failure(value.error());
        made.text_ += *value;
        made.pairs_.push_back({from, name_bytes, value->size()});
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
