// The seam over the simulation: time, memory, descriptors, readiness, signals.
#include <martlet/rt/kernel.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <martlet/rt/sim/objects.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0 {

void descriptor::close_number(int number) noexcept { kernel::close(number); }

}  // namespace martlet::inline v0

namespace martlet::inline v0::kernel {

using sim::call;
using sim::call_kind;
using sim::here;

std::int64_t monotonic_ns() noexcept {
    call now(call_kind::monotonic_ns, -1);
    return now.done(now.in.now_ns);
}

std::int64_t realtime_ns() noexcept {
    call now(call_kind::realtime_ns, -1);
    return now.done(now.in.now_ns + now.in.realtime_offset_ns);
}

int random_bytes(void* out, std::size_t size) noexcept {
    call now(call_kind::random_bytes, -1, size);
    if (now.fails()) return now.fail();
    for (auto* at = static_cast<unsigned char*>(out); size > 0; --size) *at++ = static_cast<unsigned char>(now.in.entropy.next());
    return now.done(0);
}

void* map_pages(std::size_t size) noexcept {
    if (sim::allocation_fails_now()) return nullptr;
    void* pages = std::aligned_alloc(64 * 1024, size);
    if (pages != nullptr) std::memset(pages, 0, size);
    // A pool may be older or younger than the simulation.
    if (sim::here_or_null() != nullptr && pages != nullptr) {
        call now(call_kind::map_pages, -1, size);
        now.in.pages.emplace(pages, size);
        now.in.page_bytes += size;
        now.done();
    }
    return pages;
}

void unmap_pages(void* pages, std::size_t size) noexcept {
    if (sim::here_or_null() != nullptr) {
        call now(call_kind::unmap_pages, -1, size);
        if (const auto at = now.in.pages.find(pages); at != now.in.pages.end()) {
            if (at->second != size) now.in.broken("pages are unmapped with the size with which they were mapped");
            now.in.page_bytes -= size;
            now.in.pages.erase(at);
        }
        now.done();
    }
    std::free(pages);
}

void close(int number) noexcept {
    call now(call_kind::close, number);
    now.in.close(number);
    now.done();
}

std::ptrdiff_t read(const descriptor& from, void* out, std::size_t size) noexcept {
    call now(call_kind::read, from.number(), size);
    sim::object* of = now.in.find(from.number());
    if (now.fails()) {
        if (auto* socket = dynamic_cast<sim::socket*>(of)) socket->follow_error(now.error());
        return now.fail<std::ptrdiff_t>();
    }
    return now.done(of->read(out, size));
}

std::ptrdiff_t write(const descriptor& to, const void* data, std::size_t size) noexcept {
    call now(call_kind::write, to.number(), size);
    sim::object* of = now.in.find(to.number());
    auto* socket = dynamic_cast<sim::socket*>(of);
    // A socket's errors; other kinds of descriptors fail of themselves only.
    if (socket != nullptr && now.fails()) {
        socket->follow_error(now.error());
        return now.fail<std::ptrdiff_t>();
    }
    return now.done(of->write(data, size));
}

int pipe_open(int (&ends)[2], bool nonblocking) noexcept {
    call now(call_kind::pipe_open, -1);
    if (now.fails()) return now.fail();
    if (!now.in.has_room(2)) return now.done(-EMFILE);
    auto buffer = std::make_shared<sim::pipe_buffer>();
    ends[0] = now.in.open(std::make_shared<sim::pipe_reader>(buffer, nonblocking));
    ends[1] = now.in.open(std::make_shared<sim::pipe_writer>(buffer, nonblocking));
    return now.done(0);
}

int set_nonblocking(const descriptor& of) noexcept {
    call now(call_kind::set_nonblocking, of.number());
    now.in.find(of.number())->set_nonblocking();
    return now.done(0);
}

int duplicate(const descriptor& of) noexcept {
    call now(call_kind::duplicate, of.number());
    if (now.fails()) return now.fail();
    if (!now.in.has_room(1)) return now.done(-EMFILE);
    // The standard streams are those of the test program, which the simulation leaves alone.
    if (of.number() >= 0 && of.number() < 3)
        return now.done(now.in.open(std::make_shared<sim::open_file>(now.in.null_device, open_mode::read_write)));
    return now.done(now.in.open(now.in.share(of.number())));
}

int epoll_open() noexcept {
    call now(call_kind::epoll_open, -1);
    if (now.fails()) return now.fail();
    return now.done(now.in.open(std::make_shared<sim::epoll>()));
}

namespace {

sim::epoll& epoll_of(call& now, const descriptor& epoll) {
    auto* found = now.in.find_as<sim::epoll>(epoll.number());
    if (found == nullptr) now.in.broken("an epoll call takes an epoll");
    return *found;
}

}  // namespace

int epoll_add(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept {
    call now(call_kind::epoll_add, of.number(), events);
    sim::object* watched = now.in.find(of.number());
    if (now.fails()) return now.fail();
    if (dynamic_cast<sim::open_file*>(watched) != nullptr) return now.done(-EPERM);
    return now.done(epoll_of(now, epoll).add(of.number(), *watched, events, tag));
}

int epoll_change(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept {
    call now(call_kind::epoll_change, of.number(), events);
    return now.done(epoll_of(now, epoll).change(of.number(), *now.in.find(of.number()), events, tag));
}

int epoll_remove(const descriptor& epoll, const descriptor& of) noexcept {
    call now(call_kind::epoll_remove, of.number());
    return now.done(epoll_of(now, epoll).remove(of.number(), *now.in.find(of.number())));
}

// A `timeout_ns` below 0: without end. `told` is what a trace shows.
static int wait_for_events(const descriptor& epoll, poll_event* out, int capacity, std::int64_t timeout_ns, std::int64_t told) noexcept {
    call now(call_kind::epoll_wait, epoll.number(), static_cast<std::uint64_t>(told));
    sim::epoll& from = epoll_of(now, epoll);
    if (capacity <= 0) return now.done(-EINVAL);
    if (now.fails()) return now.fail();
    if (timeout_ns != 0 && now.in.order.happens(now.in.with.interrupt_chance)) return now.done(-EINTR);
    const std::int64_t deadline = timeout_ns < 0 ? -1 : now.in.now_ns + timeout_ns;
    for (;;) {
        now.in.run_due();
        if (const int count = from.collect(out, capacity, now.in.with.shuffle); count > 0 || timeout_ns == 0) return now.done(count);
        if (std::exchange(now.in.interrupted, false)) return now.done(-EINTR);
        const std::int64_t next = now.in.next_time();
        if (next < 0 && deadline < 0) now.in.broken("lost wake-up: the loop waits for ever and nothing can happen");
        if (deadline >= 0 && (next < 0 || next > deadline)) {
            now.in.move_to(deadline);
            return now.done(0);
        }
        now.in.move_to(next);
    }
}

int epoll_wait(const descriptor& epoll, poll_event* out, int capacity, int timeout_ms) noexcept {
    return wait_for_events(epoll, out, capacity, timeout_ms < 0 ? -1 : static_cast<std::int64_t>(timeout_ms) * 1'000'000, timeout_ms);
}

int epoll_wait_briefly(const descriptor& epoll, poll_event* out, int capacity, std::int64_t timeout_ns) noexcept {
    return wait_for_events(epoll, out, capacity, timeout_ns, timeout_ns);
}

int eventfd_open() noexcept {
    call now(call_kind::eventfd_open, -1);
    if (now.fails()) return now.fail();
    return now.done(now.in.open(std::make_shared<sim::event_counter>()));
}

void eventfd_signal(const descriptor& of) noexcept {
    call now(call_kind::eventfd_signal, of.number());
    auto* counter = now.in.find_as<sim::event_counter>(of.number());
    if (counter == nullptr) now.in.broken("an eventfd call takes an eventfd");
    counter->signal();
    now.done();
}

void eventfd_drain(const descriptor& of) noexcept {
    call now(call_kind::eventfd_drain, of.number());
    auto* counter = now.in.find_as<sim::event_counter>(of.number());
    if (counter == nullptr) now.in.broken("an eventfd call takes an eventfd");
    counter->drain();
    now.done();
}

int signals_open(const int* numbers, std::size_t count, void* mask) noexcept {
    call now(call_kind::signals_open, -1, count);
    if (now.fails()) return now.fail();
    std::memset(mask, 0, 128);
    return now.done(now.in.open(std::make_shared<sim::signal_source>(numbers, count)));
}

int signals_next(const descriptor& of) noexcept {
    call now(call_kind::signals_next, of.number());
    auto* source = now.in.find_as<sim::signal_source>(of.number());
    return now.done(source == nullptr ? -EINVAL : source->next());
}

void signals_restore(const void* mask) noexcept {
    call now(call_kind::signals_restore, -1);
    // The only signal whose mask matters here; the first byte of a kept mask says how it was.
    now.in.sigpipe_blocked = *static_cast<const char*>(mask) != 0;
    if (!now.in.sigpipe_blocked && now.in.sigpipe_pending) now.in.broken("a pending SIGPIPE is consumed before the mask is restored");
    now.done();
}

bool sigpipe_block(void* mask) noexcept {
    call now(call_kind::sigpipe_block, -1);
    std::memset(mask, 0, 128);
    *static_cast<char*>(mask) = now.in.sigpipe_blocked ? 1 : 0;
    now.in.sigpipe_blocked = true;
    return now.done(now.in.sigpipe_pending);
}

void sigpipe_consume() noexcept {
    call now(call_kind::sigpipe_consume, -1);
    now.in.sigpipe_pending = false;
    now.done();
}

std::uint64_t thread_number() noexcept {
    static constinit thread_local char mine = 0;
    return reinterpret_cast<std::uintptr_t>(&mine);
}

int processors_allowed() noexcept { return 2; }

std::int64_t descriptors_allow(std::int64_t count) noexcept { return count; }

bool has_threads() noexcept { return false; }

}  // namespace martlet::inline v0::kernel
