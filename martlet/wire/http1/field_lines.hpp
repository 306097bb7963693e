// field_lines: field lines that were judged, read one after the other.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include <martlet/wire/http1/head.hpp>

namespace martlet::inline v0::http1 {

/// Field lines in wire form, each with its CRLF, as fields in the order received. Borrows the bytes, which were judged before.
class field_lines {
public:
    constexpr field_lines() noexcept = default;
    explicit constexpr field_lines(std::string_view lines) noexcept : lines_(lines) {}

    class iterator {
    public:
        using value_type = field_view;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() noexcept = default;
        explicit iterator(std::string_view left) noexcept : left_(left) {}
        field_view operator*() const noexcept;
        iterator& operator++() noexcept {
            left_.remove_prefix(left_.find('\n') + 1);
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.left_.size() == b.left_.size(); }

    private:
        std::string_view left_;
    };
    iterator begin() const noexcept { return iterator(lines_); }
    iterator end() const noexcept { return iterator(); }

    bool empty() const noexcept { return lines_.empty(); }
    std::string_view bytes() const noexcept { return lines_; }

private:
    std::string_view lines_;
};

}  // namespace martlet::inline v0::http1
