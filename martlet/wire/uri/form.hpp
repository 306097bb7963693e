// form: application/x-www-form-urlencoded, decoded as a whole and written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::uri {

/// What a form may hold.
class form_limits {
public:
    constexpr form_limits() noexcept = default;
    /// Pairs of a name and a value; beyond it `too_many_pairs`, whose status is 413.
    constexpr form_limits& pairs_max(std::size_t count) noexcept {
        pairs_max_ = count;
        return *this;
    }
    constexpr std::size_t pairs_max() const noexcept { return pairs_max_; }

private:
    std::size_t pairs_max_ = 1000;
};

/// A decoded form. Owns its bytes; names may repeat and the order is kept.
class form {
public:
    form() noexcept = default;
    /// Decodes the content of a form; `bad_escape` or `too_many_pairs`. How long `text` may be is the caller's to limit; the form takes no
    /// more bytes than that, and three words a pair.
    static result<form> parse(std::string_view text, const form_limits& limits = {});

    std::size_t size() const noexcept { return pairs_.size(); }
    /// `index` is below `size()`. A name without '=' has an empty value.
    std::string_view name(std::size_t index) const noexcept;
    std::string_view value(std::size_t index) const noexcept;
    /// The value of the first pair of that name.
    std::optional<std::string_view> find(std::string_view name) const noexcept;

private:
    struct pair {
        std::size_t from;
        std::size_t name_bytes;
        std::size_t value_bytes;
    };
    std::string text_;
    std::vector<pair> pairs_;
};

/// Writes a form or the query of a URI, one pair after another.
class form_writer {
public:
    form_writer& add(std::string_view name, std::string_view value);
    const std::string& text() const& noexcept { return text_; }
    std::string text() && noexcept { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace martlet::inline v0::uri
