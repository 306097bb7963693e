// piece_iterator: goes over the pieces of a text, and makes a value of each as it comes to it.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace martlet::inline v0 {

/// A forward iterator over a borrowed text. `next` takes the next piece, and what stands before it, off `rest`; without one it gives a view
/// whose data is null. A `Piece` is made from the bytes of its piece.
template <class Piece, std::string_view (*next)(std::string_view& rest) noexcept>
class piece_iterator {
public:
    using value_type = Piece;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using reference = const Piece&;
    using pointer = const Piece*;

    /// The end of any text.
    piece_iterator() noexcept = default;
    explicit piece_iterator(std::string_view text) noexcept : rest_(text) { advance(); }

    const Piece& operator*() const noexcept { return piece_; }
    const Piece* operator->() const noexcept { return &piece_; }
    piece_iterator& operator++() noexcept {
        advance();
        return *this;
    }
    piece_iterator operator++(int) noexcept {
        const piece_iterator before = *this;
        advance();
        return before;
    }
    friend bool operator==(const piece_iterator& a, const piece_iterator& b) noexcept { return a.at_ == b.at_; }

private:
    void advance() noexcept {
        const std::string_view taken = next(rest_);
        at_ = taken.data();
        if (at_ != nullptr) piece_ = Piece(taken);
    }

    std::string_view rest_;
    Piece piece_;
    const char* at_ = nullptr;  // where the piece begins; null at the end
};

}  // namespace martlet::inline v0
