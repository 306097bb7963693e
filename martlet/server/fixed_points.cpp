#include <martlet/server/fixed_points.hpp>

#include <exception>

#include <martlet/base/log.hpp>

namespace martlet::inline v0::server {

namespace {

void log_thrown(std::string_view which, const request& req) noexcept {
    try {
        throw;
    } catch (const std::exception& e) {
        log::error(which, log::field("path", req.path()), log::field("what", e.what()));
    } catch (...) {
        log::error(which, log::field("path", req.path()));
    }
}

}  // namespace

bool fixed_points::before(request& req, response& res) const {
    for (const before_point& each : before_) {
        each(req, res);
        // A refusal that could not be given lets nobody pass.
        if (res.is_answered() || res.is_kept() || res.has_lost_answer()) return true;
    }
    return false;
}

bool fixed_points::on_head(request& req, answer_head& head) const noexcept {
    bool all_ran = true;
    for (std::size_t i = on_head_.size(); i != 0; --i) {
        try {
            on_head_[i - 1](req, head);
        } catch (...) {
            log_thrown("an on_head threw", req);
            all_ran = false;
        }
    }
    return all_ran;
}

std::unique_ptr<body_filter> fixed_points::filter(request& req, answer_head& head) const {
    return filter_.empty() ? nullptr : filter_.front()(req, head);
}

void fixed_points::on_end(request& req, const exchange_end& end) const noexcept {
    for (std::size_t i = on_end_.size(); i != 0; --i) {
        try {
            on_end_[i - 1](req, end);
        } catch (...) {
            log_thrown("an on_end threw", req);
        }
    }
}

void fixed_points::append(const fixed_points& inner) {
    before_.insert(before_.end(), inner.before_.begin(), inner.before_.end());
    on_head_.insert(on_head_.end(), inner.on_head_.begin(), inner.on_head_.end());
    on_end_.insert(on_end_.end(), inner.on_end_.begin(), inner.on_end_.end());
    if (!inner.filter_.empty()) filter_ = inner.filter_;
}

}  // namespace martlet::inline v0::server
