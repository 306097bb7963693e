// The owner of a file descriptor. Every call of the kernel seam takes the owner, never a bare number.
#pragma once

#include <utility>

namespace martlet::inline v0 {

/// Owns an open descriptor and closes it. Move-only.
class descriptor {
public:
    descriptor() noexcept = default;
    /// Takes over `number`, which is an open descriptor that nobody else closes.
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            close();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~descriptor() { close(); }

    bool is_open() const noexcept { return number_ >= 0; }
    /// The number, for the seam, for messages and for handing to code that borrows it.
    int number() const noexcept { return number_; }
    /// Gives up ownership.
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
    /// Closes now; does nothing when not open.
    void close() noexcept {
        if (number_ >= 0) close_number(std::exchange(number_, -1));
    }

private:
    static void close_number(int number) noexcept;

    int number_ = -1;
};

}  // namespace martlet::inline v0
