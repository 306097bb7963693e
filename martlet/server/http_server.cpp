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
    void stop() noexcept;
    void wait() noexcept;
    static void drained(void* data) noexcept;
    void finish(bool tell) noexcept;

    options how;
    detail::shared common;
    std::string what;
    std::vector<net::listener> listeners;
    std::vector<std::unique_ptr<member>> members;
    std::unique_ptr<stall_watch> stalls;  // ends before the loops that it looks at
    loop_handle first_home;
    event ended;  // belongs to the caller's loop
    over_note over;

    std::atomic<int> stops{0};
    std::atomic<std::size_t> members_working{0};
    std::atomic<bool> running{false};
    std::mutex lock;
    std::condition_variable changed;
    std::mutex joining;
};

result<void> http_server::state::bind() {
    for (const std::string& text : how.addresses()) {
        const auto where = net::address::parse(text);
        if (!where) {
            what = "cannot listen on \"" + text + "\": " + std::string(where.error().text());
            return failure(where.error());
        }
        auto listening = net::listener::open(*where);
        if (!listening) {
            what = "cannot listen on " + text + ": " + std::string(listening.error().text());
            return failure(listening.error());
        }
        listeners.push_back(std::move(*listening));
    }
    return {};
}

result<void> http_server::state::start(loop* first) {
    MARTLET_ASSERT(members.empty(), "a server is started once");
    if (auto bound = bind(); !bound) {
        listeners.clear();
        return bound;
    }
    const unsigned count = how.threads() != 0 ? how.threads() : processors_usable();
    for (unsigned i = 0; i < count; ++i) {
        auto made = std::make_unique<member>();
        made->of = this;
        if (i == 0 && first != nullptr) {
            made->on = first;
        } else {
            try {
                made->own = std::make_unique<loop>();
            } catch (const std::system_error& e) {
                members.clear();
                listeners.clear();
                what = std::string("cannot make a loop: ") + e.what();
                return failure(error::system(e.code().value()));
            }
            made->on = made->own.get();
        }
        try {
            made->work = std::make_unique<detail::worker>(*made->on, common);
        } catch (const std::exception& e) {
            // By the factory of a local, or for want of memory.
            members.clear();
            listeners.clear();
            what = std::string("cannot make what a loop needs: ") + e.what();
            return failure(make_error(exchange_errc::no_local));
        }
        for (const net::listener& each : listeners) {
            if (auto listening = made->work->listen(each); !listening) {
                what = "cannot wait for connections: " + std::string(listening.error().text());
                members.clear();
                listeners.clear();
                return listening;
            }
        }
        members.push_back(std::move(made));
    }
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
        if (each->own != nullptr) each->thread = std::thread([on = each->on] { on->run(); });
    }
    return {};
}

// On the loop of the member that has nothing left.
void http_server::state::drained(void* data) noexcept {
    auto& self = *static_cast<member*>(data);
    state& of = *self.of;
    if (self.own != nullptr) self.own->stop();
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
    const bool force = stops.fetch_add(1) != 0;
    for (auto& each : members) {
        try {
            each->work->home.post([this, at = each.get(), force] {
                at->work->drain(saturating_add(at->on->clock(), common.bounds.drain_timeout()), &state::drained, at);
                if (force) at->work->force();
            });
        } catch (const std::bad_alloc&) {
            // The next call tries again.
            stops.fetch_sub(1);
        }
    }
}

void http_server::state::wait() noexcept {
    {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [this] { return !running.load(); });
    }
    const std::lock_guard<std::mutex> held(joining);
    for (auto& each : members) {
        if (each->thread.joinable()) each->thread.join();
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
