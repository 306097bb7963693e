// What a connection holds beyond a turn, and how it gives that up when the server holds too much.
#include <martlet/server/detail/http1_connection.hpp>

#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_body.hpp>
#include <martlet/server/detail/http1_open_exchange.hpp>
#include <martlet/server/detail/worker.hpp>

namespace martlet::inline v0::server::detail {

void http1_connection::account() noexcept {
    std::size_t bytes = out_.empty() ? 0 : out_.memory_bytes_held();
    if (pending_ != nullptr) {
        bytes += pending_->bytes.capacity();
        if (body() != nullptr) bytes += body()->content.capacity();
    }
    const auto kib = static_cast<std::uint32_t>((bytes + 1023) / 1024);
    if (kib == held_kib_) return;
    worker_.held.change(std::size_t{held_kib_} * 1024, std::size_t{kib} * 1024);
    held_kib_ = kib;
    if (worker_.held.now() != pressure::none) worker_.relieve_later();
}

bool http1_connection::refused_for(pressure at_least, http1_exchange& x) noexcept {
    if (worker_.held.now() < at_least) [[likely]]
        return false;
    if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "buffered_bytes_max");
    x.close_after();
    answer_without_handler(x, 503, {});
    return true;
}

burden http1_connection::burden() const noexcept {
    // What is gone holds its content until its handler has ended, and cannot give it up sooner.
    if (held_kib_ == 0 || in_call_ || state_ == state::gone) return burden::none;
    if (state_ == state::collecting || (state_ == state::running && body() != nullptr && open_ != nullptr && open_->is_awaited()))
        return burden::content;
    if (state_ == state::reading && pending_ != nullptr && !unserved_ && out_.empty()) return burden::head;
    return output_waits_ ? burden::output : burden::none;
}

void http1_connection::give_way() noexcept {
    if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "buffered_bytes_max");
    const error why = make_error(exchange_errc::server_full);
    switch (burden()) {
    case burden::content:
        if (state_ == state::collecting) {
            give_up_collecting(why, close_reason::over_limit);
        } else {
            body()->fail(why);
            open_->input_moved();
        }
        return;
    case burden::head:
        encode_refusal(why.http_status(), why.text(), pending_->bytes.view(), "Retry-After: 1\r\n");
        reason_ = close_reason::over_limit;
        disarm_input();
        drop_pending();
        move_to(state::finishing);
        // Now, and not at the end of the turn: until then the answer holds as much, and all others would be given up too.
        write();
        return;
    case burden::output:
        stream_.abort();
        lose(close_reason::over_limit, cancel_reason::peer_gone);
        return;
    case burden::none: return;
    }
}

}  // namespace martlet::inline v0::server::detail
