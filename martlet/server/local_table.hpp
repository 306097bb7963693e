// local_table: what a program keeps once for each loop, pools and clients for example, found by its type.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <martlet/rt/context.hpp>
#include <martlet/rt/ready.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {
class loop;
}

namespace martlet::inline v0::server {

namespace detail {

std::size_t next_local_index() noexcept;

/// One number for each type, the same in the whole program.
template <class T>
std::size_t local_index() noexcept {
    static const std::size_t index = next_local_index();
    return index;
}

/// Throws the local error of a type that the router was not given.
[[noreturn]] void throw_no_such_local();

}  // namespace detail

/// How the T of one loop is made and ended. Copies share the factory.
class local_factory {
public:
    template <class T, class F>
    static local_factory of(F factory) {
        static_assert(std::is_invocable_r_v<T, const F&, loop&> || std::is_invocable_r_v<T, const F&>,
                      "the factory of a local<T> is called as const, with (loop&) or without arguments, and returns a T");
        local_factory made;
        made.index_ = detail::local_index<T>();
        made.factory_ = std::make_shared<const F>(std::move(factory));
        made.make_ = [](const void* f, loop& on) -> void* {
            if constexpr (std::is_invocable_r_v<T, const F&, loop&>) {
                return new T((*static_cast<const F*>(f))(on));
            } else {
                return new T((*static_cast<const F*>(f))());
            }
        };
        made.destroy_ = [](void* object) noexcept { delete static_cast<T*>(object); };
        if constexpr (requires(T& object) {
                          { object.close() } -> std::same_as<task<void>>;
                      }) {
            made.close_ = [](void* object) { return static_cast<T*>(object)->close(); };
        }
        return made;
    }
    std::size_t index() const noexcept { return index_; }

private:
    friend class local_table;
    local_factory() noexcept = default;

    std::size_t index_ = 0;
    std::shared_ptr<const void> factory_;
    void* (*make_)(const void*, loop&) = nullptr;
    void (*destroy_)(void*) noexcept = nullptr;
    task<void> (*close_)(void*) = nullptr;
};

/// Those of one loop, made in the order given and ended in reverse.
class local_table : private ready_node {
public:
    /// Throws what a factory throws; what was made before is destroyed then.
    local_table(loop& on, const std::vector<local_factory>& from);
    local_table(const local_table&) = delete;
    local_table& operator=(const local_table&) = delete;
    /// Destroys what is left, without closing it.
    ~local_table();

    /// Null for a type that is not here.
    void* find(std::size_t index) const noexcept { return index < slots_.size() ? slots_[index] : nullptr; }

    /// Ends all: each is closed, if it has a `task<> close()`, and then destroyed. True: it is done; false: `done(data)` is called on the
    /// loop when it is. No handler uses them any longer.
    bool close(void (*done)(void*) noexcept, void* data) noexcept;
    task<void> close_all();
    /// Closing has no more time: what it waits for is cancelled.
    void cancel(error why) noexcept;

private:
    struct entry {
        const local_factory* by;
        void* object;
    };
    static void closed(ready_node& node) noexcept;
    void destroy_last() noexcept;

    loop& on_;
    std::vector<local_factory> factories_;
    std::vector<entry> made_;
    std::vector<void*> slots_;
    std::optional<context> work_;
    task<void> closing_;
    void (*done_)(void*) noexcept = nullptr;
    void* data_ = nullptr;
};

}  // namespace martlet::inline v0::server
