#include <martlet/server/local_table.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <expected>

#include <martlet/base/log.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/exchange.hpp>

namespace martlet::inline v0::server {

namespace detail {

std::size_t next_local_index() noexcept {
    static constinit std::atomic<std::size_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

void throw_no_such_local() { throw std::bad_expected_access<error>(make_error(exchange_errc::no_such_local)); }

}  // namespace detail

local_table::local_table(loop& on, const std::vector<local_factory>& from) : ready_node(&local_table::closed), on_(on), factories_(from) {
    std::size_t size = 0;
    for (const local_factory& each : factories_) size = std::max(size, each.index_ + 1);
    slots_.resize(size);
    made_.reserve(factories_.size());
    try {
        for (const local_factory& each : factories_) {
            made_.push_back({&each, each.make_(each.factory_.get(), on)});
            slots_[each.index_] = made_.back().object;
        }
    } catch (...) {
        while (!made_.empty()) destroy_last();
        throw;
    }
}

local_table::~local_table() {
    ready_node::unlink();
    while (!made_.empty()) destroy_last();
}

void local_table::destroy_last() noexcept {
    const entry last = made_.back();
    made_.pop_back();
    slots_[last.by->index_] = nullptr;
    last.by->destroy_(last.object);
}

task<void> local_table::close_all() {
    while (!made_.empty()) {
        const entry last = made_.back();
        if (last.by->close_ != nullptr) {
            try {
                co_await last.by->close_(last.object);
            } catch (const std::exception& e) {
                log::error("the close of a local threw", log::field("what", e.what()));
            } catch (...) {
                log::error("the close of a local threw something that is no std::exception");
            }
        }
        destroy_last();
    }
}

bool local_table::close(void (*done)(void*) noexcept, void* data) noexcept {
    if (closing_) return false;
    const bool waits = std::any_of(made_.begin(), made_.end(), [](const entry& each) { return each.by->close_ != nullptr; });
    if (waits) {
        done_ = done;
        data_ = data;
        try {
            work_.emplace(on_.root());
            closing_ = close_all();
            if (!closing_.start(*work_, *static_cast<ready_node*>(this))) return false;
            closing_ = {};
        } catch (const std::exception& e) {
            log::error("locals could not be closed", log::field("what", e.what()));
        }
    }
    while (!made_.empty()) destroy_last();
    return true;
}

void local_table::cancel(error why) noexcept {
    if (closing_) work_->cancel(why);
}

void local_table::closed(ready_node& node) noexcept {
    auto& self = static_cast<local_table&>(node);
    self.closing_ = {};
    self.done_(self.data_);
}

}  // namespace martlet::inline v0::server
