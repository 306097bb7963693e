// reference: a URI or a relative reference (RFC 3986) in its parts, and what it means against a base.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::uri {

/// A checked URI reference in its five parts (RFC 3986 section 4.1). Borrows the bytes it was parsed from.
class reference {
public:
    /// Strict: `bad_byte`, `bad_escape` or `bad_authority` for what the grammar has not, blamed on the peer. An empty authority, as in
    /// "file:///x", is grammatical. Text that people typed goes through `encode(text, component::reference)` first.
    static result<reference> parse(std::string_view text) noexcept;

    /// There is a scheme: it is a URI and not relative.
    bool is_absolute() const noexcept { return scheme_.has_value(); }
    /// Case as received.
    std::optional<std::string_view> scheme() const noexcept { return scheme_; }
    /// What stands before '@' in the authority.
    std::optional<std::string_view> userinfo() const noexcept { return userinfo_; }
    /// Host and port, without userinfo; present, and perhaps empty, when there is a "//".
    std::optional<std::string_view> authority() const noexcept { return authority_; }
    std::string_view path() const noexcept { return path_; }
    /// Without the '?' and the '#' that begin them.
    std::optional<std::string_view> query() const noexcept { return query_; }
    std::optional<std::string_view> fragment() const noexcept { return fragment_; }

private:
    reference() noexcept = default;
    std::optional<std::string_view> scheme_;
    std::optional<std::string_view> userinfo_;
    std::optional<std::string_view> authority_;
    std::string_view path_;
    std::optional<std::string_view> query_;
    std::optional<std::string_view> fragment_;
};

/// The URI that `relative` means where `base` is the base (RFC 3986 section 5.2, strict); `bad_scheme`, blamed on the program, when
/// `base` has no scheme. Dot segments are gone from it; escapes are as they were.
result<std::string> resolve(const reference& base, const reference& relative);

/// Appends `path` without the segments "." and ".." (RFC 3986 section 5.2.4), in one pass.
void append_without_dot_segments(std::string& out, std::string_view path);

}  // namespace martlet::inline v0::uri
