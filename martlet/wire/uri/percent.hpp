// percent: escapes of URIs and forms, decoded strictly and encoded for where the text will stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::uri {

/// What '+' means in what is decoded: itself (RFC 3986), or a space as in forms and queries made by forms.
enum class plus_sign : bool { literal, space };

/// The bytes that `text` stands for; `bad_escape`, blamed on the peer, when a '%' has no two hexadecimal digits behind it. Decodes once;
/// the result may hold any byte, NUL and '/' among them.
result<std::string> decode(std::string_view text, plus_sign plus = plus_sign::literal);

/// The same without a copy when there is nothing to decode: the result borrows `text` then, and `space` otherwise.
result<std::string_view> decode(std::string_view text, std::string& space, plus_sign plus = plus_sign::literal);
/// Adds the decoded `text` to `out`. False, and nothing is added, when an escape is bad.
[[nodiscard]] bool append_decoded(std::string& out, std::string_view text, plus_sign plus = plus_sign::literal);

/// Whether `text` decodes to `plain`, found without decoding. False when an escape is bad.
bool decodes_to(std::string_view text, std::string_view plain, plus_sign plus = plus_sign::literal) noexcept;

/// Each '%' has two hexadecimal digits behind it.
bool is_well_escaped(std::string_view text) noexcept;

/// Where encoded text will stand: what is escaped there. Unreserved bytes (RFC 3986 section 2.3) never are, but for '~' in a form.
enum class component : std::uint8_t {
    value,       ///< all but unreserved bytes: safe in any place
    segment,     ///< a path segment: also '/'
    path,        ///< a path, whose '/' separate
    query,       ///< a query or a fragment as a whole
    query_part,  ///< a name or a value in a query: also '&', '=' and '+'
    user,        ///< a user's name or password: also ':'
    form,        ///< a name or a value in a form: a space becomes '+'
    reference,   ///< a whole reference: only bytes that no URI has; '%' stays, so that nothing is escaped twice
};

/// `text` with the bytes escaped that may not stand there.
std::string encode(std::string_view text, component where);
void append_encoded(std::string& out, std::string_view text, component where);

}  // namespace martlet::inline v0::uri
