#include <martlet/wire/http/etag.hpp>

#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

namespace {

// etagc: printable but space and DQUOTE, and bytes from 0x80.
bool is_opaque(std::string_view text) noexcept {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= ' ' || byte == '"' || byte == 0x7f) return false;
    }
    return true;
}

// The size of the tag that `text` begins with; 0 when it begins with none.
std::size_t tag_bytes(std::string_view text) noexcept {
    const std::size_t from = text.starts_with("W/") ? 3 : 1;
    if (text.size() < from + 1 || text[from - 1] != '"') return 0;
    const std::size_t end = text.find('"', from);
    return end == std::string_view::npos || !is_opaque(text.substr(from, end - from)) ? 0 : end + 1;
}

}  // namespace

std::optional<etag> etag::parse(std::string_view text) noexcept {
    if (text.empty() || tag_bytes(text) != text.size()) return std::nullopt;
    const bool weak = text.starts_with("W/");
    const std::size_t from = weak ? 3 : 1;
    return etag(text.substr(from, text.size() - from - 1), weak);
}

result<etag> etag::strong(std::string_view opaque) noexcept {
    if (!is_opaque(opaque)) return failure(make_error(errc::bad_etag, blame::local));
    return etag(opaque, false);
}

result<etag> etag::weak(std::string_view opaque) noexcept {
    if (!is_opaque(opaque)) return failure(make_error(errc::bad_etag, blame::local));
    return etag(opaque, true);
}

std::string etag::text() const { return std::string(weak_ ? "W/\"" : "\"").append(opaque_).append("\""); }

std::optional<etag> etag_reader::next() noexcept {
    while (!rest_.empty() && (rest_.front() == ',' || is_blank(rest_.front()))) rest_.remove_prefix(1);
    if (rest_.empty() || !good_) return std::nullopt;
    const std::size_t bytes = tag_bytes(rest_);
    const std::string_view behind = trim(rest_.substr(bytes));
    good_ = bytes > 0 && (behind.empty() || behind.front() == ',');
    if (!good_) return std::nullopt;
    const std::optional<etag> tag = etag::parse(rest_.substr(0, bytes));
    rest_ = behind;
    return tag;
}

}  // namespace martlet::inline v0::http
