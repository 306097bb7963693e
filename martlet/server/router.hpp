// router: which handler answers which path and method.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/handler.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::server {

/// One path and its handlers by method.
class route {
public:
    const std::string& path() const noexcept { return path_; }
    /// The handler for `method`: for HEAD without one of its own, that of GET. Null when there is none.
    const handler* find(http::method method) const noexcept {
        const auto index = static_cast<std::size_t>(method);
        return index < method_count ? by_method_[index] : nullptr;
    }
    /// The value of Allow: "GET, HEAD, OPTIONS".
    const std::string& allow() const noexcept { return allow_; }

private:
    friend class router;
    static constexpr std::size_t method_count = static_cast<std::size_t>(http::method::other);

    std::string path_;
    std::string allow_;
    std::array<handler, method_count> handlers_;
    std::array<const handler*, method_count> by_method_{};
};

/// Filled before the server starts, and not changed while it runs: every loop reads it.
class router {
public:
    router();
    router(const router&) = delete;
    router& operator=(const router&) = delete;

    /// `path` begins with '/', and is compared byte for byte with the request's path. Throws std::invalid_argument, saying what is wrong,
    /// for a path that is none, or a method that has a handler there already.
    router& get(std::string_view path, handler h) { return add(http::method::get, path, std::move(h)); }
    router& post(std::string_view path, handler h) { return add(http::method::post, path, std::move(h)); }
    router& put(std::string_view path, handler h) { return add(http::method::put, path, std::move(h)); }
    router& patch(std::string_view path, handler h) { return add(http::method::patch, path, std::move(h)); }
    router& del(std::string_view path, handler h) { return add(http::method::delete_, path, std::move(h)); }
    router& add(http::method method, std::string_view path, handler h);

    /// The route for `path`, or null.
    [[gnu::always_inline]] const route* find(std::string_view path) const noexcept {
        const key wanted(path);
        const slot& here = slots_[wanted.hash() & mask_];
        // The ends are the whole of a short path.
        if (here.of == wanted && path.size() <= 16) [[likely]]
            return here.to;
        return find_slowly(path, wanted);
    }
    std::size_t size() const noexcept { return routes_.size(); }

private:
    /// A path's ends and length.
    class key {
    public:
        key() noexcept = default;
        explicit key(std::string_view path) noexcept : size_(path.size()) {
            if (path.size() >= 8) [[likely]] {
                std::memcpy(&front_, path.data(), 8);
                std::memcpy(&back_, path.data() + path.size() - 8, 8);
            } else {
                for (const char c : path) front_ = front_ << 8 | static_cast<unsigned char>(c);
            }
        }
        std::uint64_t hash() const noexcept {
            constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
            const std::uint64_t mixed = (front_ ^ (back_ * odd) ^ size_) * odd;
            return mixed ^ mixed >> 32;
        }
        friend bool operator==(const key& a, const key& b) noexcept {
            return ((a.front_ ^ b.front_) | (a.back_ ^ b.back_) | (a.size_ ^ b.size_)) == 0;
        }

    private:
        std::uint64_t front_ = 0;
        std::uint64_t back_ = 0;
        std::size_t size_ = 0;
    };
    struct slot {
        key of;
        const route* to = nullptr;  // null: free
    };

    const route* find_slowly(std::string_view path, const key& wanted) const noexcept;
    void rehash();

    std::vector<std::unique_ptr<route>> routes_;
    // Open addressing; at most half are in use.
    std::vector<slot> slots_;
    std::uint64_t mask_ = 0;
};

}  // namespace martlet::inline v0::server
