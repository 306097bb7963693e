// router: which handler answers which path and method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/handler.hpp>
#include <martlet/server/path_params.hpp>
#include <martlet/server/route.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::server {

class pattern_tree;

/// What becomes of a request that has a path and a method.
class routing {
public:
    /// It goes to `h`.
    routing(const route* to, const handler* h) noexcept : to_(to), handler_(h) {}
    /// No handler takes it: it is answered with `status` and, unless empty, the field Allow.
    routing(const route* to, int status, std::string_view allow = {}) noexcept : to_(to), status_(status), allow_(allow) {}

    /// Null when no route has the path.
    const route* to() const noexcept { return to_; }
    const handler* run() const noexcept { return handler_; }
    int status() const noexcept { return status_; }
    std::string_view allow() const noexcept { return allow_; }

private:
    const route* to_;
    const handler* handler_ = nullptr;
    int status_ = 0;
    std::string_view allow_;
};

/// Filled before the server starts, and not changed while it runs: every loop reads it.
///
/// A pattern is a path whose segments are literal, `:name`, which takes one segment that is not empty, or at the end `*name`, which takes
/// all that is left and may be empty. Literal segments are compared byte for byte with what was sent, so escapes and a slash at the end
/// count: "/a" and "/a/" are two routes, and "/files/*rest" takes "/files/" but not "/files". Where several patterns take a path, the order
/// in which they were added does not matter: segment by segment a literal one goes before `:name`, and that before `*rest`. The path alone
/// decides on the route; a method that the route does not have is refused, even when a less specific route has it.
class router {
public:
    router();
    router(const router&) = delete;
    router& operator=(const router&) = delete;
    ~router();

    /// Throws std::invalid_argument, saying what is wrong, for a pattern that no path could meet, a method that has a handler there
    /// already, or a pattern that takes the same paths as another with other names.
    router& get(std::string_view path, handler h) { return add(http::method::get, path, std::move(h)); }
    router& post(std::string_view path, handler h) { return add(http::method::post, path, std::move(h)); }
    router& put(std::string_view path, handler h) { return add(http::method::put, path, std::move(h)); }
    router& patch(std::string_view path, handler h) { return add(http::method::patch, path, std::move(h)); }
    router& del(std::string_view path, handler h) { return add(http::method::delete_, path, std::move(h)); }
    router& add(http::method method, std::string_view path, handler h);

    /// The route for `path`, or null. `params` is filled when the route has some, and otherwise left alone.
    [[gnu::always_inline]] const route* find(std::string_view path, path_params& params) const noexcept {
        const key wanted(path);
        const slot& here = slots_[wanted.hash() & mask_];
        // The ends are the whole of a short path.
        if (here.of == wanted && path.size() <= 16) [[likely]]
            return here.to;
        return find_slowly(path, wanted, params);
    }
    const route* find(std::string_view path) const noexcept {
        path_params unused;
        return find(path, unused);
    }
    /// What becomes of a request: a handler, or 404, 405 with what the path allows, 501 for a method that is unknown, 204 for OPTIONS.
    routing resolve(http::method method, std::string_view path, path_params& params) const noexcept;

    /// Patterns.
    std::size_t size() const noexcept { return routes_.size(); }

    /// Segments of a pattern with parameters; one with more is refused.
    static constexpr std::size_t pattern_segments_max = 32;

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

    const route* find_slowly(std::string_view path, const key& wanted, path_params& params) const noexcept;
    void rehash();

    // Those without parameters, by open addressing; at most half are in use.
    std::vector<slot> slots_;
    std::uint64_t mask_ = 0;
    std::vector<std::unique_ptr<route>> routes_;
    std::unique_ptr<pattern_tree> patterns_;
};

}  // namespace martlet::inline v0::server
