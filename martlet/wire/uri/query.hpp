// query: the pairs of a query or a form, as they stand in the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/piece_iterator.hpp>
#include <martlet/wire/uri/percent.hpp>

namespace martlet::inline v0::uri {

/// One `name=value`, undecoded. Borrows the query's bytes.
class query_pair {
public:
    query_pair() noexcept = default;
    /// `text` is what stands between two '&'.
    explicit query_pair(std::string_view text) noexcept;

    std::string_view raw_name() const noexcept { return name_; }
    std::string_view raw_value() const noexcept { return value_; }
    /// There was a '='.
    bool has_value() const noexcept { return has_value_; }

    /// Decoded, with '+' as a space; `bad_escape` when that cannot be done.
    result<std::string> name() const { return decode(name_, plus_sign::space); }
    result<std::string> value() const { return decode(value_, plus_sign::space); }
    /// The same without a copy where nothing is to be decoded; borrows the query or `space`.
    result<std::string_view> name(std::string& space) const { return decode(name_, space, plus_sign::space); }
    result<std::string_view> value(std::string& space) const { return decode(value_, space, plus_sign::space); }

    /// The decoded name is `plain`.
    bool is_named(std::string_view plain) const noexcept { return decodes_to(name_, plain, plus_sign::space); }

private:
    std::string_view name_;
    std::string_view value_;
    bool has_value_ = false;
};

/// The pairs of a query in their order; empty pieces ("a&&b") are passed over. Borrows the text, allocates nothing, and reads it anew for
/// each look-up.
class query_view {
    static std::string_view next(std::string_view& rest) noexcept;

public:
    using iterator = piece_iterator<query_pair, &query_view::next>;

    query_view() noexcept = default;
    /// `text` is what follows the '?', or the content of a form.
    explicit query_view(std::string_view text) noexcept : text_(text) {}

    iterator begin() const noexcept { return iterator(text_); }
    iterator end() const noexcept { return {}; }
    bool is_empty() const noexcept { return begin() == end(); }

    /// The first pair whose decoded name is `name`. A name with a bad escape is nobody's.
    std::optional<query_pair> find(std::string_view name) const noexcept;

    std::string_view text() const noexcept { return text_; }

private:
    std::string_view text_;
};

}  // namespace martlet::inline v0::uri
