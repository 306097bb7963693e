// etag: entity tags (RFC 9110 section 8.8.3), read, made and compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::http {

/// A checked entity tag. Borrows the bytes it was made from.
class etag {
public:
    /// Reads `"opaque"` or `W/"opaque"`; nothing when `text` is neither.
    static std::optional<etag> parse(std::string_view text) noexcept;
    /// A tag of bytes of one's own; `bad_etag`, blamed on the program, when one of them is a quote, a space or a control byte.
    static result<etag> strong(std::string_view opaque) noexcept;
    static result<etag> weak(std::string_view opaque) noexcept;

    bool is_weak() const noexcept { return weak_; }
    /// What stands between the quotes.
    std::string_view opaque() const noexcept { return opaque_; }
    /// As it goes on the wire.
    std::string text() const;

private:
    etag(std::string_view opaque, bool weak) noexcept : opaque_(opaque), weak_(weak) {}
    std::string_view opaque_;
    bool weak_;
};

/// The same bytes of content: both are strong and alike (RFC 9110 section 8.8.3.2).
inline bool match_strongly(const etag& a, const etag& b) noexcept { return !a.is_weak() && !b.is_weak() && a.opaque() == b.opaque(); }
/// The same content for a reader: alike, strong or weak.
inline bool match_weakly(const etag& a, const etag& b) noexcept { return a.opaque() == b.opaque(); }

/// Takes the tags of If-Match and If-None-Match off their value, one after another. "*" is not one; ask for it first.
class etag_reader {
public:
    explicit etag_reader(std::string_view value) noexcept : rest_(value) {}
    /// The next tag; nothing at the end or where something else stands.
    std::optional<etag> next() noexcept;
    /// Nothing that is no tag was met so far.
    bool is_good() const noexcept { return good_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

}  // namespace martlet::inline v0::http
