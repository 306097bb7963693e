#include <martlet/server/body_source.hpp>

#include <algorithm>

#include <martlet/server/exchange.hpp>

namespace martlet::inline v0::server {

namespace {

// What is reserved on a peer's word for how much will come.
constexpr std::uint64_t reserved_bytes_max = 64 * 1024;

}  // namespace

void body_source::retry() noexcept {
    if (reader_ == nullptr || !reader_->attempt()) return;
    content_read& done = *std::exchange(reader_, nullptr);
    awaited(false);
    done.complete();
}

// True when there is a result.
bool content_read::attempt() noexcept {
    switch (from_->try_pull(piece_)) {
    case pull::piece: return true;
    case pull::ended: piece_ = {}; return true;
    case pull::waits: return false;
    case pull::failed: break;
    }
    return fail(from_->failure());
}

bool content_read::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    failed_ = false;
    if (from_ == nullptr || from_->reader_ != nullptr) return !fail(make_error(exchange_errc::content_waited));
    if (in.is_cancelled()) return !fail(in.why());
    if (attempt()) return false;
    suspend(in, awaiter);
    from_->reader_ = this;
    from_->awaited(true);
    return true;
}

void content_read::cancelled(operation& base, error why) noexcept {
    auto& self = static_cast<content_read&>(base);
    self.from_->reader_ = nullptr;
    self.from_->awaited(false);
    self.fail(why);
    self.complete();
}

task<result<std::string>> read_all_of(body_source* from, std::optional<std::uint64_t> announced) {
    std::string all;
    if (from == nullptr) co_return failure(make_error(exchange_errc::content_waited));
    if (announced) all.reserve(static_cast<std::size_t>(std::min(*announced, reserved_bytes_max)));
    for (;;) {
        auto piece = co_await content_read(from);
        if (!piece) co_return failure(piece.error());
        if (piece->empty()) co_return all;
        all += *piece;
    }
}

}  // namespace martlet::inline v0::server
