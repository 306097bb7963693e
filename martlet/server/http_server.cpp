#include <martlet/server/http_server.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <martlet/net/listener.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/processors.hpp>
#include <martlet/rt/stall_watch.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/detail/shared.hpp>
#include <martlet/server/detail/worker.hpp>

namespace martlet::inline v0::server {

/// One loop of the server, with its thread unless the caller runs it.
class http_server::state {
public:
    struct member {
        state* of = nullptr;
        std::unique_ptr<loop> own;
        loop* on = nullptr;
        std::unique_ptr<detail::worker> work;
        std::thread thread;
        std::atomic<bool> ended{false};
    };

    /// Tells the caller's loop that all is over; made beforehand, because that must not fail for want of memory.
    class over_note final : public martlet::detail::posted {
    public:
        explicit over_note(state& of) noexcept : posted(&over_note::arrived), of_(of) {}

    private:
        // On a loop that has stopped nobody waits for the event any longer.
        static void arrived(posted* node, bool run) { static_cast<over_note*>(node)->of_.finish(run); }
        state& of_;
    };

    state(const router& app, options how) : how(std::move(how)), common(app, this->how.bounds(), this->how.watcher()), over(*this) {}

    result<void> bind();
    result<void> start(loop* first);
    result<void> resize(unsigned count);
    void stop() noexcept;
    void wait() noexcept;
    static void drained(void* data) noexcept;
    void finish(bool tell) noexcept;
    result<void> make_member(loop* given, std::vector<std::unique_ptr<member>>& into);
    result<void> start_thread(member& of);
    void give_up() noexcept;
    detail::seat_list seats_of_members() const;
    void tell_seats();
    void reap() noexcept;

    options how;
    detail::shared common;
    std::string what;
    std::vector<net::listener> listeners;
    std::vector<std::unique_ptr<member>> members;
    std::vector<std::unique_ptr<member>> retired;  // no longer told of connections, perhaps still at work
    std::unique_ptr<stall_watch> stalls;           // ends before the loops that it looks at
    loop_handle first_home;
    event ended;  // belongs to the caller's loop
    over_note over;

    std::atomic<int> stops{0};
    std::atomic<std::size_t> members_working{0};
    std::atomic<bool> running{false};
    std::mutex lock;
    std::condition_variable changed;
    mutable std::mutex changing;  // for members and retired
};

result<void> http_server::state::bind() {
    for (const std::string& text : how.addresses()) {
        const auto where = net::address::parse(text);
        if (!where) {
            what = "cannot listen on \"" + text + "\": " + std::string(where.error().text());
            return failure(where.error());
        }
        const auto streams = net::stream_options().unsent_bytes_max(common.bounds.unsent_bytes_max());
        auto listening = net::listener::open(*where, net::listener_options().streams(streams));
        if (!listening) {
            what = "cannot listen on " + text + ": " + std::string(listening.error().text());
            return failure(listening.error());
        }
        listeners.push_back(std::move(*listening));
    }
    return {};
}

// A member whose loop nobody turns yet.
result<void> http_server::state::make_member(loop* given, std::vector<std::unique_ptr<member>>& into) {
    auto made = std::make_unique<member>();
    made->of = this;
    if (given != nullptr) {
        made->on = given;
    } else {
        try {
            made->own = std::make_unique<loop>();
        } catch (const std::system_error& e) {
            what = std::string("cannot make a loop: ") + e.what();
            return failure(error::system(e.code().value()));
        }
        made->on = made->own.get();
    }
    try {
        made->work = std::make_unique<detail::worker>(*made->on, common);
    } catch (const std::exception& e) {
        // By the factory of a local, or for want of memory.
        what = std::string("cannot make what a loop needs: ") + e.what();
        return failure(make_error(exchange_errc::no_local));
    }
    for (const net::listener& each : listeners) {
        if (auto listening = made->work->listen(each); !listening) {
            what = "cannot wait for connections: " + std::string(listening.error().text());
            return listening;
        }
    }
    into.push_back(std::move(made));
    return {};
}

// On failure the member is as it was, and its loop has never turned.
result<void> http_server::state::start_thread(member& of) {
    try {
        of.thread = std::thread([on = of.on] { on->run(); });
        return {};
    } catch (const std::system_error& e) {
        what = std::string("cannot start a thread: ") + e.what();
        return failure(error::system(e.code().value()));
    }
}

result<void> http_server::state::start(loop* first) {
    const std::lock_guard<std::mutex> held(changing);
    MARTLET_ASSERT(members.empty(), "a server is started once");
    if (auto bound = bind(); !bound) {
        listeners.clear();
        return bound;
    }
    const unsigned count = how.threads() != 0 ? how.threads() : processors_usable();
    for (unsigned i = 0; i < count; ++i) {
        if (auto made = make_member(i == 0 ? first : nullptr, members); !made) {
            members.clear();
            listeners.clear();
            return made;
        }
    }
    const detail::seat_list seats = seats_of_members();
    common.seats.replace(seats);
    for (const auto& each : members) each->work->know(seats);
    if (how.stall_time() > duration::zero()) {
        const auto tell = [](const stall_report& stall, void* data) noexcept {
            static_cast<observer*>(data)->stalled(stall.activity(), stall.lasting());
        };
        stalls = std::make_unique<stall_watch>(how.stall_time(), how.watcher() != nullptr ? +tell : nullptr, how.watcher());
        for (const auto& each : members) stalls->add(*each->on);
    }
    members_working = members.size();
    stops = 0;
    running = true;
    if (first != nullptr) first_home = first->handle();
    for (auto& each : members) {
        if (each->own == nullptr) continue;
        if (auto started = start_thread(*each); !started) {
            give_up();
            return started;
        }
    }
    return {};
}

// Some threads run already, and may have accepted connections.
void http_server::state::give_up() noexcept {
    running = false;
    stalls.reset();
    for (auto& each : members) {
        if (!each->thread.joinable()) continue;
        // Not to `drained`, which counts on all members.
        each->work->home.post([at = each.get()] {
            at->work->drain(at->on->clock(), [](void* on) noexcept { static_cast<loop*>(on)->stop(); }, at->on);
            at->work->force();
        });
        each->thread.join();
    }
    members.clear();
    common.seats.replace({});
    listeners.clear();
    first_home = {};
}

detail::seat_list http_server::state::seats_of_members() const {
    detail::seat_list seats;
    for (const auto& each : members) seats.push_back(each->work->place());
    return seats;
}

// Each worker has a list of its own, and learns of the new one on its own loop.
void http_server::state::tell_seats() {
    const detail::seat_list seats = seats_of_members();
    common.seats.replace(seats);
    for (const auto& each : members) {
        each->work->home.post([at = each->work.get(), seats] { at->know(seats); });
    }
}

result<void> http_server::state::resize(unsigned count) {
    const std::lock_guard<std::mutex> held(changing);
    MARTLET_ASSERT(count != 0, "a server has one loop at least");
    if (!running || stops != 0) return failure(cancel_reason::shutting_down);
    reap();
    while (members.size() < count) {
        if (auto made = make_member(nullptr, members); !made) return made;
        member& added = *members.back();
        if (stalls != nullptr) stalls->add(*added.on);
        members_working.fetch_add(1);
        if (auto started = start_thread(added); !started) {
            members_working.fetch_sub(1);
            if (stalls != nullptr) stalls->remove(*added.on);
            members.pop_back();
            return started;
        }
    }
    std::vector<member*> leaving;
    while (members.size() > count) {
        leaving.push_back(members.back().get());
        retired.push_back(std::move(members.back()));
        members.pop_back();
    }
    tell_seats();
    for (member* each : leaving) {
        each->work->home.post(
            [this, each] { each->work->retire(saturating_add(each->on->clock(), common.bounds.drain_timeout()), &state::drained, each); });
    }
    return {};
}

// Frees loops that have ended since the last change.
void http_server::state::reap() noexcept {
    std::erase_if(retired, [this](const std::unique_ptr<member>& each) {
        if (!each->ended) return false;
        each->thread.join();
        if (stalls != nullptr) stalls->remove(*each->on);
        return true;
    });
}

// On the loop of the member that has nothing left.
void http_server::state::drained(void* data) noexcept {
    auto& self = *static_cast<member*>(data);
    state& of = *self.of;
    if (self.own != nullptr) self.own->stop();
    self.ended = true;
    if (of.members_working.fetch_sub(1) != 1) return;
    // The server may be destroyed as soon as it runs no more, so the caller's loop says so itself.
    if (of.first_home && self.own != nullptr) {
        of.first_home.send(&of.over);
    } else {
        of.finish(true);
    }
}

void http_server::state::finish(bool tell) noexcept {
    if (first_home && tell) ended.set();
    const std::lock_guard<std::mutex> held(lock);
    running = false;
    changed.notify_all();
}

void http_server::state::stop() noexcept {
    const std::lock_guard<std::mutex> held(changing);
    const bool force = stops.fetch_add(1) != 0;
    const auto stop_one = [this, force](member& one) {
        one.work->home.post([this, at = &one, force] {
            at->work->drain(saturating_add(at->on->clock(), common.bounds.drain_timeout()), &state::drained, at);
            if (force) at->work->force();
        });
    };
    try {
        for (auto& each : members) stop_one(*each);
        for (auto& each : retired) stop_one(*each);
    } catch (const std::bad_alloc&) {
        // The next call tries again.
        stops.fetch_sub(1);
    }
}

void http_server::state::wait() noexcept {
    {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [this] { return !running.load(); });
    }
    const std::lock_guard<std::mutex> held(changing);
    for (auto* list : {&members, &retired}) {
        for (auto& each : *list) {
            if (each->thread.joinable()) each->thread.join();
        }
    }
}

http_server::http_server(const router& app, options how) : state_(std::make_unique<state>(app, std::move(how))) {}

http_server::~http_server() {
    if (is_running()) {
        const bool outside = !state_->first_home;
        MARTLET_ASSERT(outside, "a server on its caller's loop is stopped, and stopped() awaited, before it is destroyed");
        stop();
        stop();
    }
    state_->wait();
}

result<void> http_server::start() { return state_->start(nullptr); }
result<void> http_server::start_on(loop& on) { return state_->start(&on); }
const std::string& http_server::what() const noexcept { return state_->what; }

std::vector<std::string> http_server::addresses() const {
    std::vector<std::string> out;
    for (const net::listener& each : state_->listeners) {
        const auto where = each.local_address();
        if (where) out.push_back(where->text());
    }
    return out;
}

result<void> http_server::threads(unsigned count) { return state_->resize(count); }

statistics http_server::counts() const noexcept {
    return {state_->common.connections_accepted.load(), state_->common.connections_refused.load(), state_->common.connections.load()};
}

void http_server::stop() noexcept { state_->stop(); }
void http_server::wait() noexcept { state_->wait(); }
bool http_server::is_running() const noexcept { return state_->running.load(); }

task<void> http_server::stopped() {
    auto waited = co_await shield(state_->ended.wait());
    // A shielded wait is not cancelled.
    static_cast<void>(waited);
}

}  // namespace martlet::inline v0::server
