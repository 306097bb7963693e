// What a simulated descriptor stands for, and how readiness reaches an epoll: the algorithm of Linux's fs/eventpoll.c, because
// edge-triggered code depends on exactly when it notifies.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::sim {

class epoll;
class object;

/// One object watched by one epoll.
struct watch {
    epoll* by;
    object* of;
    std::uint32_t events;
    void* tag;
    bool is_ready;
    bool is_left_over;
};

class object {
public:
    object() = default;
    object(const object&) = delete;
    object& operator=(const object&) = delete;
    virtual ~object();

    /// The conditions that hold now. May note that the asker wants to hear of room to write.
    virtual std::uint32_t poll() = 0;
    /// The last descriptor is gone.
    virtual void released() {}
    virtual std::ptrdiff_t read(void*, std::size_t) { return -EINVAL; }
    virtual std::ptrdiff_t write(const void*, std::size_t) { return -EINVAL; }
    virtual void set_nonblocking() {}

    /// Tells the watchers that something happened that concerns `key`; 0 concerns all of them.
    void wake(std::uint32_t key);

    int references = 0;

private:
    friend class epoll;
    std::vector<watch*> watches_;
};

/// Interest is kept by descriptor number and what stands behind it (a duplicate keeps it alive when the number is closed), readiness in
/// the order in
/// which it came.
class epoll final : public object {
public:
    ~epoll() override;
    std::uint32_t poll() override;
    int add(int number, object& of, std::uint32_t events, void* tag);
    int change(int number, object& of, std::uint32_t events, void* tag);
    int remove(int number, object& of);
    /// Takes up to `capacity` events that still hold.
    int collect(kernel::poll_event* out, int capacity, bool shuffle);
    void released() override;
    /// The object went; so do its entries.
    void forget(object& of);
    void make_ready(watch& entry);

private:
    std::map<std::pair<int, object*>, watch> interest_;
    std::vector<watch*> ready_;
};

}  // namespace martlet::inline v0::sim
