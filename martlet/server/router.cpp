#include <martlet/server/router.hpp>

#include <stdexcept>

namespace martlet::inline v0::server {

namespace {

void check_path(std::string_view path) {
    const auto refuse = [path](const char* why) { throw std::invalid_argument("route \"" + std::string(path) + "\": " + why); };
    if (path.empty() || path.front() != '/') refuse("a path begins with '/'");
    for (const char c : path) {
        if (c == '?' || c == '#') refuse("a path has no query and no fragment");
        if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f)
            refuse("write other bytes percent-encoded, as they are sent");
    }
    if (path.find("/:") != path.npos || path.find("/*") != path.npos) refuse("parameters in paths are not supported; write the path out");
}

}  // namespace

const route* router::find_slowly(std::string_view path, const key& wanted) const noexcept {
    for (std::uint64_t at = wanted.hash() & mask_;; at = (at + 1) & mask_) {
        const slot& here = slots_[at];
        if (here.to == nullptr) return nullptr;
        if (here.of == wanted && here.to->path_ == path) return here.to;
    }
}

void router::rehash() {
    std::size_t size = 8;
    while (size < routes_.size() * 2) size *= 2;
    slots_.assign(size, slot());
    mask_ = size - 1;
    for (const auto& each : routes_) {
        const key of(each->path_);
        std::uint64_t at = of.hash() & mask_;
        while (slots_[at].to != nullptr) at = (at + 1) & mask_;
        slots_[at].of = of;
        slots_[at].to = each.get();
    }
}

router::router() { rehash(); }

router& router::add(http::method method, std::string_view path, handler h) {
    check_path(path);
    if (method >= http::method::other)
        throw std::invalid_argument("route \"" + std::string(path) + "\": this method cannot have a handler");
    if (!h) throw std::invalid_argument("route \"" + std::string(path) + "\": the handler is empty");
    auto* found = const_cast<route*>(find(path));
    if (found == nullptr) {
        routes_.push_back(std::make_unique<route>());
        found = routes_.back().get();
        found->path_ = path;
        rehash();
    }
    handler& place = found->handlers_[static_cast<std::size_t>(method)];
    if (place)
        throw std::invalid_argument("route \"" + std::string(path) + "\": " + std::string(http::text(method)) + " has a handler already");
    place = std::move(h);
    for (std::size_t i = 0; i < route::method_count; ++i) found->by_method_[i] = found->handlers_[i] ? &found->handlers_[i] : nullptr;
    const handler*& head = found->by_method_[static_cast<std::size_t>(http::method::head)];
    if (head == nullptr) head = found->by_method_[static_cast<std::size_t>(http::method::get)];
    found->allow_.clear();
    for (std::size_t i = 0; i < route::method_count; ++i) {
        const auto each = static_cast<http::method>(i);
        if (each != http::method::options && found->find(each) == nullptr) continue;
        if (!found->allow_.empty()) found->allow_ += ", ";
        found->allow_ += http::text(each);
    }
    return *this;
}

}  // namespace martlet::inline v0::server
