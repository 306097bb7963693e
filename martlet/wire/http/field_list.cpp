#include <martlet/wire/http/field_list.hpp>

#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr std::size_t npos = std::string_view::npos;

// Calls `take` with each byte that a quoted string stands for, until it says no.
template <class Take>
bool each_unquoted(std::string_view raw, Take take) {
    const bool quoted = raw.starts_with('"');
    if (quoted) raw = raw.substr(1, raw.size() - 2);
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (quoted && raw[i] == '\\') ++i;
        if (!take(raw[i])) return false;
    }
    return true;
}

}  // namespace

std::size_t quoted_string_bytes(std::string_view text) noexcept {
    if (!text.starts_with('"')) return 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"') return i + 1;
        if (text[i] == '\\') ++i;
        if (i < text.size() && is_in(text[i], class_control)) return 0;
    }
    return 0;
}

std::optional<std::string_view> list_reader::next() noexcept {
    while (!rest_.empty() && (rest_.front() == ',' || is_blank(rest_.front()))) rest_.remove_prefix(1);
    if (rest_.empty()) return std::nullopt;
    std::size_t end = 0;
    bool quoted = false;
    for (; end < rest_.size() && (quoted || rest_[end] != ','); ++end) {
        if (rest_[end] == '"') quoted = !quoted;
        if (quoted && rest_[end] == '\\') ++end;
    }
    end = std::min(end, rest_.size());
    const std::string_view element = trim(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return element;
}

std::string parameter::value() const {
    std::string out;
    each_unquoted(raw_, [&out](char c) {
        out.push_back(c);
        return true;
    });
    return out;
}

std::string_view parameter::value(std::string& space) const {
    if (!raw_.starts_with('"')) return raw_;
    if (raw_.find('\\') == npos) return raw_.substr(1, raw_.size() - 2);
    space = value();
    return space;
}

bool parameter::is(std::string_view text) const noexcept {
    std::size_t i = 0;
    const bool prefix = each_unquoted(raw_, [&](char c) { return i < text.size() && scan::lower(text[i++]) == scan::lower(c); });
    return prefix && i == text.size();
}

std::optional<parameter> parameter_reader::next() noexcept {
    const auto skip_blanks = [this] {
        while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    };
    for (;;) {
        skip_blanks();
        if (rest_.empty() || !good_) return std::nullopt;
        good_ = rest_.front() == ';';
        if (!good_) return std::nullopt;
        rest_.remove_prefix(1);
        skip_blanks();
        if (!rest_.empty() && rest_.front() != ';') break;
    }
    const auto token_bytes = [](std::string_view text) { return std::min(scan::find_not_in(scan::byte_class::token, text), text.size()); };
    const std::string_view name = rest_.substr(0, token_bytes(rest_));
    good_ = !name.empty() && rest_.substr(name.size()).starts_with('=');
    if (!good_) return std::nullopt;
    rest_.remove_prefix(name.size() + 1);
    const std::size_t quoted = quoted_string_bytes(rest_);
    const std::string_view raw = rest_.substr(0, quoted > 0 ? quoted : token_bytes(rest_));
    good_ = !raw.empty();
    if (!good_) return std::nullopt;
    rest_.remove_prefix(raw.size());
    return parameter(name, raw);
}

bool append_parameter_value(std::string& out, std::string_view text) {
    if (scan::is_token(text)) {
        out += text;
        return true;
    }
    for (const char c : text) {
        if (is_in(c, class_control)) return false;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
    return true;
}

}  // namespace martlet::inline v0::http
