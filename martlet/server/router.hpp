// router: which handler answers which path and method.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/fixed_points.hpp>
#include <martlet/server/handler.hpp>
#include <martlet/server/local_table.hpp>
#include <martlet/server/path_params.hpp>
#include <martlet/server/route.hpp>
#include <martlet/server/route_options.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::server {

class pattern;
class pattern_tree;
class router;

/// What becomes of a request that has a path and a method.
class routing {
public:
    /// It goes to `h`.
    routing(const route* to, const handler* h, const fixed_points* around) noexcept : to_(to), handler_(h), points_(around) {}
    /// No handler takes it: it is answered with `status` and, unless empty, the field Allow.
    routing(const route* to, int status, const fixed_points* around, std::string_view allow = {}) noexcept
        : to_(to), points_(around), status_(status), allow_(allow) {}

    /// Null when no route has the path.
    const route* to() const noexcept { return to_; }
    const handler* run() const noexcept { return handler_; }
    int status() const noexcept { return status_; }
    std::string_view allow() const noexcept { return allow_; }
    /// What runs around the handler or the answer without one: that of the route, or of the nearest group above the path. Null for nothing.
    const fixed_points* points() const noexcept { return points_; }

private:
    const route* to_;
    const handler* handler_ = nullptr;
    const fixed_points* points_;
    int status_ = 0;
    std::string_view allow_;
};

/// Routes that have the beginning of their paths and what runs around them in common. A handle: it is good as long as the router is.
///
/// What runs around a group applies to all its routes, to those of the groups within it, and to the 404 and 405 below its prefix, whether it
/// was added before or after them.
class route_group {
public:
    /// Throws std::invalid_argument, saying what is wrong, for a pattern that no path could meet, a method that has a handler there
    /// already, or a pattern that takes the same paths as another with other names. In a group with a prefix `path` may be empty.
    route_group& get(std::string_view path, handler h, route_options how = {}) { return add(http::method::get, path, std::move(h), how); }
    route_group& post(std::string_view path, handler h, route_options how = {}) { return add(http::method::post, path, std::move(h), how); }
    route_group& put(std::string_view path, handler h, route_options how = {}) { return add(http::method::put, path, std::move(h), how); }
    route_group& patch(std::string_view path, handler h, route_options how = {}) {
        return add(http::method::patch, path, std::move(h), how);
    }
    route_group& del(std::string_view path, handler h, route_options how = {}) {
        return add(http::method::delete_, path, std::move(h), how);
    }
    route_group& add(http::method method, std::string_view path, handler h, route_options how = {});

    /// A group within this one. `prefix` begins with '/', does not end with one, and may have `:name` segments; empty, it only keeps
    /// apart what runs around its routes.
    route_group group(std::string_view prefix);
    /// Adds all routes and groups that `other` has now below `prefix`, sharing their handlers; `other` may be mounted again, and is not
    /// needed afterwards.
    route_group& mount(std::string_view prefix, const router& other);

    /// Runs ahead of the handler, first to last, and may answer in its place: `void(request&, response&)`. For a coroutine handler too it
    /// is a plain function.
    route_group& before(before_point point);
    /// Runs before an answer's head is encoded, last to first: `void(request&, answer_head&)`.
    route_group& on_head(head_point point);
    /// Runs when an exchange is over, last to first: `void(request&, const exchange_end&)`. The request has its head still, not its content.
    route_group& on_end(end_point point);
    /// Changes the bytes of answers: `std::unique_ptr<body_filter>(request&, answer_head&)`, null for none. There is one for each answer: that
    /// of the innermost group.
    route_group& filter(filter_point point);

protected:
    route_group(router& of, std::size_t index) noexcept : of_(&of), index_(index) {}

private:
    friend class router;
    template <class Point>
    route_group& add_point(Point point);

    router* of_;
    std::size_t index_;
};

/// Filled before the server starts, and not changed while it runs: every loop reads it.
///
/// A pattern is a path whose segments are literal, `:name`, which takes one segment that is not empty, or at the end `*name`, which takes
/// all that is left and may be empty. Literal segments are compared byte for byte with what was sent, so escapes and a slash at the end
/// count: "/a" and "/a/" are two routes, and "/files/*rest" takes "/files/" but not "/files". Where several patterns take a path, the order
/// in which they were added does not matter: segment by segment a literal one goes before `:name`, and that before `*rest`. The path alone
/// decides on the route; a method that the route does not have is refused, even when a less specific route has it.
class router : public route_group {
public:
    router();
    router(const router&) = delete;
    router& operator=(const router&) = delete;
    ~router();

    /// Gives each loop a T of its own, reached by request::local<T>(). `factory` is called when a server starts, as T(loop&) or T(), for one loop
    /// after the other, perhaps on another thread than the loop's; what it throws keeps the server from starting. At the end, when no handler
    /// is left, those of a loop are ended in reverse order, on the loop: a T that has `task<> close()` is closed first, with the time that
    /// limits::drain_timeout leaves. A mounted router brings those that this one does not have.
    template <class T, class F>
    router& local(F factory) {
        add_local(local_factory::of<T>(std::move(factory)));
        return *this;
    }
    const std::vector<local_factory>& locals() const noexcept { return locals_; }

    /// The route for `path`, or null. `params` is filled when the route has some, and otherwise left alone.
    [[gnu::always_inline]] const route* find(std::string_view path, path_params& params) const noexcept {
        const key wanted(path);
        const slot& here = slots_[wanted.hash() & mask_];
        if (here.of == wanted) [[likely]]
            return here.to;
        return find_slowly(path, params);
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
    /// A path's ends and length: the whole of a short path.
    class key {
    public:
        static constexpr std::size_t whole_bytes_max = 16;

        /// That of no path.
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
            return ((front_ ^ std::rotl(back_, 29) ^ size_) * odd) >> 32;
        }
        friend bool operator==(const key& a, const key& b) noexcept {
            return ((a.front_ ^ b.front_) | (a.back_ ^ b.back_) | (a.size_ ^ b.size_)) == 0;
        }

    private:
        std::uint64_t front_ = 0;
        std::uint64_t back_ = 0;
        std::size_t size_ = std::string_view::npos;
    };
    struct slot {
        key of;                     // of a longer path none, so that find_slowly() looks
        const route* to = nullptr;  // null: free
    };

    friend class route_group;
    /// A prefix and what runs around what is below it; the first is the router itself.
    struct group_node;

    const route* find_slowly(std::string_view path, path_params& params) const noexcept;
    const fixed_points* points_above(std::string_view path) const noexcept;
    std::size_t add_group(std::size_t parent, std::string_view prefix);
    std::string joined(std::size_t group, std::string_view path) const;
    route* check(http::method method, const std::string& path, const pattern& parsed);
    void place(http::method method, const std::string& path, route::entry added);
    void take_over(std::size_t below, std::string_view prefix, const router& other);
    void add_local(local_factory added);
    void refresh(route& of);
    void refresh_all();
    void rehash();

    // Those without parameters, by open addressing; at most half are in use.
    std::vector<slot> slots_;
    std::uint64_t mask_ = 0;
    std::vector<std::unique_ptr<route>> routes_;
    std::vector<std::unique_ptr<group_node>> groups_;
    std::unique_ptr<pattern_tree> patterns_;
    std::vector<local_factory> locals_;
};

}  // namespace martlet::inline v0::server
