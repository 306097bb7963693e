#include <martlet/rt/sim/peer.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include <martlet/rt/sim/connection.hpp>
#include <martlet/rt/sim/socket.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

/// Shared with what is scheduled; `who` < 0 once it is closed.
struct peer_state final : side_owner, std::enable_shared_from_this<peer_state> {
    std::shared_ptr<connection> link;
    int who = 0;
    std::string received;
    std::string unsent;
    bool is_paused = false;
    bool was_connected = false;
    bool saw_end = false;
    bool saw_reset = false;
    bool is_open = true;
    bool fin_wanted = false;
    bool call_is_due = false;
    bool is_reading = false;
    bool is_writing = false;
    std::move_only_function<void(peer&)> changed;

    void attach(std::shared_ptr<connection> to, int side) {
        link = std::move(to);
        who = side;
        link->sides[who].owner = this;
        side_changed(0);
    }

    void side_changed(std::uint32_t) override {
        if (!is_open) return;
        const side& mine = link->sides[who];
        if (mine.state == phase::established) was_connected = true;
        if (!is_paused) read(SIZE_MAX);
        write();
        call_later();
    }

    void call_later() {
        if (!changed || call_is_due) return;
        // Not from inside the call that brought the change.
        call_is_due = true;
        here().after(0, [self = shared_from_this()] {
            self->call_is_due = false;
            if (!self->is_open || !self->changed) return;
            const allocation_resume under_test;
            peer handle(self);
            // It may set another, or close.
            auto act = std::move(self->changed);
            act(handle);
            if (!self->changed) self->changed = std::move(act);
            handle.state_.reset();
        });
    }

    // Room that is made brings more at once, and with it another call: what is under way takes it, in order.
    void read(std::size_t most) {
        if (std::exchange(is_reading, true)) return;
        read_all(most);
        is_reading = false;
    }
    void write() {
        if (std::exchange(is_writing, true)) return;
        write_all();
        is_writing = false;
    }

    void read_all(std::size_t most) {
        char block[16 * 1024];
        while (most > 0) {
            const std::ptrdiff_t got = link->receive(who, block, std::min(most, sizeof block), false);
            if (got > 0) {
                received.append(block, static_cast<std::size_t>(got));
                most -= static_cast<std::size_t>(got);
                continue;
            }
            if (got != -EAGAIN) saw_end = true;
            if (got < 0 && got != -EAGAIN && got != -ENOTCONN) saw_reset = true;
            break;
        }
    }

    void write_all() {
        while (!unsent.empty()) {
            const kernel::piece all{unsent.data(), unsent.size()};
            const std::ptrdiff_t put = link->send(who, &all, 1);
            if (put == -EAGAIN) return;
            if (put < 0) {
                unsent.clear();
                if (put == -ECONNRESET) saw_reset = true;
                return;
            }
            unsent.erase(0, static_cast<std::size_t>(put));
        }
        if (std::exchange(fin_wanted, false)) link->shutdown(who, 1);
    }

    void close(bool with_reset) {
        if (!std::exchange(is_open, false)) return;
        if (with_reset && link->is_unix) link->reset(who);
        link->close(who, with_reset);
        changed = nullptr;
    }
};

namespace {

constexpr std::size_t peer_buffer_bytes = 1024 * 1024;

}  // namespace

peer::peer(std::string_view address) {
    const allocation_pause pause;
    state_ = std::make_shared<peer_state>();
    const sim::address to = parse_text(address);
    sim::address from = to;
    from.path.clear();
    from.port = to.family == AF_UNIX ? 0 : pick_port();
    state_->attach(begin_connect(from, to, to.family, peer_buffer_bytes, here().with.receive_buffer_bytes), 0);
}

peer::peer(std::shared_ptr<peer_state> state) noexcept : state_(std::move(state)) {}
peer::peer(peer&&) noexcept = default;

peer& peer::operator=(peer&& other) noexcept {
    if (this != &other) {
        close();
        state_ = std::move(other.state_);
    }
    return *this;
}

peer::~peer() { close(); }

bool peer::is_connected() const noexcept { return state_->is_open && state_->link->sides[state_->who].state == phase::established; }

bool peer::failed() const noexcept {
    const side& mine = state_->link->sides[state_->who];
    return state_->saw_reset || mine.error != 0 || (mine.state == phase::closed && !state_->was_connected);
}

void peer::send(std::string_view bytes) {
    const allocation_pause pause;
    if (!state_->is_open) return;
    state_->unsent += bytes;
    state_->write();
}

void peer::shutdown_write() {
    const allocation_pause pause;
    if (!state_->is_open) return;
    state_->fin_wanted = true;
    state_->write();
}

void peer::close() {
    const allocation_pause pause;
    if (state_ != nullptr) state_->close(false);
}

void peer::reset() {
    const allocation_pause pause;
    state_->close(true);
}

const std::string& peer::received() const noexcept { return state_->received; }

std::string peer::receive() {
    const allocation_pause pause;
    return std::exchange(state_->received, std::string());
}

bool peer::closed_by_other() const noexcept { return state_->saw_end || state_->saw_reset; }
bool peer::reset_by_other() const noexcept { return state_->saw_reset; }
std::size_t peer::unsent() const noexcept { return state_->unsent.size(); }

void peer::pause_reading() { state_->is_paused = true; }

void peer::resume_reading() {
    const allocation_pause pause;
    state_->is_paused = false;
    if (state_->is_open) state_->read(SIZE_MAX);
}

void peer::read_some(std::size_t size) {
    const allocation_pause pause;
    if (state_->is_open) state_->read(size);
}

void peer::after(duration delay, std::move_only_function<void(peer&)> act) {
    const allocation_pause pause;
    here().after(delay.count(), [self = state_, act = std::move(act)]() mutable {
        if (!self->is_open) return;
        const allocation_resume under_test;
        peer handle(self);
        act(handle);
        handle.state_.reset();
    });
}

void peer::send_after(duration delay, std::string_view bytes) {
    const allocation_pause pause;
    after(delay, [bytes = std::string(bytes)](peer& self) { self.send(bytes); });
}

void peer::on_change(std::move_only_function<void(peer&)> act) {
    const allocation_pause pause;
    state_->changed = std::move(act);
    // What came before it was asked for is told too.
    if (!state_->received.empty() || state_->saw_end) state_->call_later();
}

struct peer_listener::state final : acceptor, std::enable_shared_from_this<state> {
    std::move_only_function<void(peer)> accepted;
    bool takes_none = false;
    bool is_open = true;

    bool has_room() const override { return !takes_none; }
    void take(std::shared_ptr<connection> arrived) override {
        auto made = std::make_shared<peer_state>();
        made->attach(std::move(arrived), 1);
        here().after(0, [self = shared_from_this(), made] {
            if (!self->is_open) return made->close(true);
            const allocation_resume under_test;
            self->accepted(peer(made));
        });
    }
};

peer_listener::peer_listener(std::string_view address, std::move_only_function<void(peer)> accepted) {
    const allocation_pause pause;
    state_ = std::make_shared<state>();
    state_->accepted = std::move(accepted);
    add_acceptor(parse_text(address), *state_);
}

peer_listener::~peer_listener() {
    const allocation_pause pause;
    state_->is_open = false;
    remove_acceptor(*state_);
}

void peer_listener::accept_nothing(bool on) noexcept { state_->takes_none = on; }

}  // namespace martlet::inline v0::sim
