// query: the pairs of a query or a form, as they stand in the text.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

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
public:
    class iterator {
    public:
        using value_type = query_pair;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::forward_iterator_tag;
        using reference = const query_pair&;
        using pointer = const query_pair*;

        iterator() noexcept = default;
        const query_pair& operator*() const noexcept { return pair_; }
        const query_pair* operator->() const noexcept { return &pair_; }
        iterator& operator++() noexcept {
            advance();
            return *this;
        }
        iterator operator++(int) noexcept {
            const iterator before = *this;
            advance();
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }

    private:
        friend class query_view;
        explicit iterator(std::string_view rest) noexcept : rest_(rest) { advance(); }
        void advance() noexcept;

        std::string_view rest_;
        query_pair pair_;
        const char* at_ = nullptr;  // where the pair begins; null at the end
    };

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
