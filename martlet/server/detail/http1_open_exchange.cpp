#include <martlet/server/detail/http1_open_exchange.hpp>

#include <cstring>
#include <new>

#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_connection.hpp>

namespace martlet::inline v0::server::detail {

// One block: the exchange, its field records, the bytes of the head.
http1_open_exchange* http1_open_exchange::make(http1_exchange& from, http1_connection& of, outq& out, const http1::response_prefix& prefix,
                                               form how, bool without_head) noexcept {
    loop& on = of.stream().owner();
    const std::size_t records_bytes = without_head ? 0 : from.head.field_count() * sizeof(http1::field_record);
    const std::size_t head_bytes = without_head ? 0 : from.head.bytes().size();
    const std::size_t whole = sizeof(http1_open_exchange) + records_bytes + head_bytes;
    void* block = on.allocate(whole);
    if (block == nullptr) return nullptr;
    auto* records = reinterpret_cast<http1::field_record*>(static_cast<char*>(block) + sizeof(http1_open_exchange));
    const std::uint16_t count = without_head ? std::uint16_t{0} : static_cast<std::uint16_t>(from.head.field_count());
    auto* made = new (block) http1_open_exchange(on.root(), records, count, how);
    made->block_bytes_ = whole;
    made->origin_ = &on;
    made->attach(of, out, prefix, true);
    made->locals_ = from.locals();
    if (!without_head) {
        char* bytes = reinterpret_cast<char*>(records) + records_bytes;
        if (records_bytes != 0) std::memcpy(records, from.head.records(), records_bytes);
        std::memcpy(bytes, from.head.bytes().data(), head_bytes);
        made->head = from.head;
        made->head.rebase_records(records, count);
        made->head.rebase(bytes);
        made->http1_exchange::begin(from.after());
        made->params_ = from.params();
        made->found_as(from);
    } else {
        // The request is gone with the handler: only what the answer depends on is kept.
        made->course_ = (from.course_ & (course_after | course_old)) | course_told;
        made->method_ = from.method();
    }
    return made;
}

http1_open_exchange::~http1_open_exchange() { origin_->disarm(quiet_); }

void http1_open_exchange::destroy() noexcept {
    loop& on = *origin_;
    const std::size_t bytes = block_bytes_;
    this->~http1_open_exchange();
    on.free(this, bytes);
}

bool http1_open_exchange::start(const handler& of) {
    running_ = of.start(request_, response_);
    return running_.start(work_, *this);
}

// The answer may come long after the head: another second, and perhaps the server is stopping.
void http1_open_exchange::bring_up_to_date() noexcept {
    if (connection_ != nullptr && connection_->bring_up_to_date()) close_after();
}

exchange_errc http1_open_exchange::respond(const response_head& answer, std::string_view content) noexcept {
    bring_up_to_date();
    if (connection_->must_close_behind_content()) close_after();
    return http1_exchange::respond(answer, content);
}

exchange_errc http1_open_exchange::respond(const response_head& answer, slice content) noexcept {
    bring_up_to_date();
    if (connection_->must_close_behind_content()) close_after();
    return http1_exchange::respond(answer, std::move(content));
}

exchange_errc http1_open_exchange::respond(int status, http::media type, std::string_view content) noexcept {
    bring_up_to_date();
    if (connection_->must_close_behind_content()) close_after();
    return http1_exchange::respond(status, type, content);
}

// A plain handler that waited for its content, or what stands before any handler, answers later as others do: by an exchange that lives on
// without the request.
exchange* http1_open_exchange::keep_open() noexcept {
    return form_ == form::collected || (form_ == form::task && !has_task()) ? http1_exchange::keep_open() : nullptr;
}

void http1_open_exchange::finished(ready_node& node) noexcept {
    auto& self = static_cast<http1_open_exchange&>(node);
    self.connection_->exchange_finished(self);
}

void http1_open_exchange::let_go() noexcept { connection_->exchange_finished(*this); }

// --- the content that comes in ---

pull http1_open_exchange::try_pull(std::string_view& into) noexcept {
    if ((course_ & course_gone) != 0) return pull::failed;
    return connection_->pull_content(into);
}

error http1_open_exchange::failure() const noexcept {
    if ((course_ & course_gone) != 0) return work_.is_cancelled() ? work_.why() : error(cancel_reason::peer_gone);
    return connection_->content_failure();
}

std::uint64_t http1_open_exchange::content_bytes_max() const noexcept { return connection_->content_bytes_max(); }

void http1_open_exchange::awaited(bool on) noexcept {
    if ((course_ & course_gone) == 0) connection_->content_awaited(on);
}

}  // namespace martlet::inline v0::server::detail
