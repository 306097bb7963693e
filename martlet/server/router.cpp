#include <martlet/server/router.hpp>

#include <stdexcept>

#include <martlet/server/pattern_internal.hpp>

namespace martlet::inline v0::server {

namespace {

// RFC 9110 section 9.3.7: what the server as a whole can do.
constexpr std::string_view allowed_by_server = "GET, HEAD, OPTIONS";

[[noreturn]] void refuse(std::string_view path, const std::string& why) {
    throw std::invalid_argument("route \"" + std::string(path) + "\": " + why);
}

}  // namespace

void route::refresh() {
    allow_.clear();
    for (std::size_t i = 0; i < method_count; ++i) by_method_[i] = handlers_[i] ? &handlers_[i] : nullptr;
    const handler*& head = by_method_[index_of(http::method::head)];
    if (head == nullptr) head = by_method_[index_of(http::method::get)];
    for (std::size_t i = 0; i < method_count; ++i) {
        quick_[i] = by_method_[i] != nullptr && by_method_[i]->is_plain() ? by_method_[i] : nullptr;
        if (by_method_[i] == nullptr && i != index_of(http::method::options)) continue;
        if (!allow_.empty()) allow_ += ", ";
        allow_ += http::text(static_cast<http::method>(i));
    }
}

const route* router::find_slowly(std::string_view path, const key& wanted, path_params& params) const noexcept {
    for (std::uint64_t at = wanted.hash() & mask_;; at = (at + 1) & mask_) {
        const slot& here = slots_[at];
        if (here.to == nullptr) break;
        if (here.of == wanted && here.to->path_ == path) return here.to;
    }
    return patterns_ != nullptr ? patterns_->find(path, params) : nullptr;
}

routing router::resolve(http::method method, std::string_view path, path_params& params) const noexcept {
    params.clear();
    const route* const found = find(path, params);
    // RFC 9110 section 9.1: a method that is not known is another matter than one that a resource does not have.
    if (method == http::method::other) return routing(found, 501);
    if (found == nullptr) {
        const bool whole_server = method == http::method::options && path == "*";
        return whole_server ? routing(nullptr, 204, allowed_by_server) : routing(nullptr, 404);
    }
    if (const handler* h = found->find(method)) return routing(found, h);
    return routing(found, method == http::method::options ? 204 : 405, found->allow());
}

void router::rehash() {
    std::size_t size = 8;
    while (size < routes_.size() * 2) size *= 2;
    slots_.assign(size, slot());
    mask_ = size - 1;
    for (const auto& each : routes_) {
        if (!each->param_names_.empty()) continue;
        const key of(each->path_);
        std::uint64_t at = of.hash() & mask_;
        while (slots_[at].to != nullptr) at = (at + 1) & mask_;
        slots_[at].of = of;
        slots_[at].to = each.get();
    }
}

router::router() { rehash(); }
router::~router() = default;

router& router::add(http::method method, std::string_view path, handler h) {
    const pattern parsed(path);
    if (method >= http::method::other) refuse(path, "this method cannot have a handler");
    if (!h) refuse(path, "the handler is empty");
    const bool has_params = parsed.params() != 0;
    route* found = nullptr;
    if (!has_params) {
        path_params unused;
        found = const_cast<route*>(find(path, unused));
        if (unused.of() != nullptr) found = nullptr;
    } else if (patterns_ != nullptr) {
        found = const_cast<route*>(patterns_->same_as(parsed));
        if (found != nullptr && found->path_ != path) refuse(path, "\"" + found->path_ + "\" takes the same paths with other names");
    }
    if (found == nullptr) {
        routes_.push_back(std::make_unique<route>());
        found = routes_.back().get();
        found->path_ = path;
        found->has_rest_ = parsed.has_rest();
        for (const pattern::segment& each : parsed.segments()) {
            if (each.is != pattern::kind::literal) found->param_names_.emplace_back(each.text);
        }
        if (has_params) {
            if (patterns_ == nullptr) patterns_ = std::make_unique<pattern_tree>();
            patterns_->add(parsed, *found);
        } else {
            rehash();
        }
    }
    handler& place = found->handlers_[route::index_of(method)];
    if (place) refuse(path, std::string(http::text(method)) + " has a handler already");
    place = std::move(h);
    found->refresh();
    return *this;
}

}  // namespace martlet::inline v0::server
