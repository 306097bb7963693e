#include <martlet/server/router.hpp>

#include <algorithm>
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

/// What one router, group or mounted router has of its own, and with what is around it.
struct router::group_node {
    std::string prefix;  // whole, from the beginning of the path
    std::size_t parent = 0;
    fixed_points own;
    fixed_points all;
    // A letter for each segment of the prefix, so that of two as long the lesser is the more specific.
    std::string rank;
};

const route_options& route::options(http::method method) const noexcept {
    static constexpr route_options defaults;
    const entry* of = by_method_[index_of(method)];
    return of != nullptr ? of->how : defaults;
}

// The key is made again here: a reference to that of find() would keep it in memory there.
const route* router::find_slowly(std::string_view path, path_params& params) const noexcept {
    const key wanted(path);
    for (std::uint64_t at = wanted.hash() & mask_;; at = (at + 1) & mask_) {
        const slot& here = slots_[at];
        if (here.to == nullptr) break;
        if (here.to->path_ == path) return here.to;
    }
    return patterns_ != nullptr ? patterns_->find(path, params) : nullptr;
}

namespace {

/// `path` goes on where `prefix`, which has no rest, ends.
bool is_below(std::string_view prefix, std::string_view path) noexcept {
    while (!prefix.empty()) {
        if (path.empty()) return false;
        prefix.remove_prefix(1);
        path.remove_prefix(1);
        const std::string_view wanted = prefix.substr(0, prefix.find('/'));
        const std::string_view part = path.substr(0, path.find('/'));
        const bool fits = wanted.starts_with(':') ? !part.empty() : wanted == part;
        if (!fits) return false;
        prefix.remove_prefix(wanted.size());
        path.remove_prefix(part.size());
    }
    return true;
}

}  // namespace

const fixed_points* router::points_above(std::string_view path) const noexcept {
    const group_node* nearest = groups_.front().get();
    for (const auto& each : groups_) {
        const bool nearer =
            each->rank.size() != nearest->rank.size() ? each->rank.size() > nearest->rank.size() : each->rank < nearest->rank;
        if (nearer && path.starts_with('/') && is_below(each->prefix, path)) nearest = each.get();
    }
    return nearest->all.empty() ? nullptr : &nearest->all;
}

routing router::resolve(http::method method, std::string_view path, path_params& params) const noexcept {
    params.clear();
    const route* const found = find(path, params);
    // RFC 9110 section 9.1: a method that is not known is another matter than one that a resource does not have.
    if (method == http::method::other) return routing(found, 501, found != nullptr ? found->points(method) : points_above(path));
    if (found == nullptr) {
        const bool whole_server = method == http::method::options && path == "*";
        const fixed_points* const around = points_above(path);
        return whole_server ? routing(nullptr, 204, around, allowed_by_server) : routing(nullptr, 404, around);
    }
    if (const handler* h = found->find(method)) return routing(found, h, found->points(method));
    return routing(found, method == http::method::options ? 204 : 405, found->points(method), found->allow());
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
        if (each->path_.size() <= key::whole_bytes_max) slots_[at].of = of;
        slots_[at].to = each.get();
    }
}

router::router() : route_group(*this, 0) {
    groups_.push_back(std::make_unique<group_node>());
    rehash();
}
router::~router() = default;

std::string router::joined(std::size_t group, std::string_view path) const {
    const std::string& prefix = groups_[group]->prefix;
    if (!prefix.empty() && !path.empty() && path.front() != '/') refuse(path, "a path begins with '/', also in a group");
    return prefix + std::string(path);
}

/// The route that `path` has already; throws when `method` cannot be added to it.
route* router::check(http::method method, const std::string& path, const pattern& parsed) {
    if (method >= http::method::other) refuse(path, "this method cannot have a handler");
    const route* found = nullptr;
    if (parsed.params() == 0) {
        path_params params;
        found = find(path, params);
        if (params.of() != nullptr) found = nullptr;
    } else if (patterns_ != nullptr) {
        found = patterns_->same_as(parsed);
        if (found != nullptr && found->path_ != path) refuse(path, "\"" + found->path_ + "\" takes the same paths with other names");
    }
    if (found != nullptr && found->entries_[route::index_of(method)].run != nullptr)
        refuse(path, std::string(http::text(method)) + " has a handler already");
    return const_cast<route*>(found);
}

void router::place(http::method method, const std::string& path, route::entry added) {
    const pattern parsed(path);
    route* to = check(method, path, parsed);
    if (to == nullptr) {
        routes_.push_back(std::make_unique<route>());
        to = routes_.back().get();
        to->path_ = path;
        to->group_ = added.group;
        to->has_rest_ = parsed.has_rest();
        for (const pattern::segment& each : parsed.segments()) {
            if (each.is != pattern::kind::literal) to->param_names_.emplace_back(each.text);
        }
        if (parsed.params() != 0) {
            if (patterns_ == nullptr) patterns_ = std::make_unique<pattern_tree>();
            patterns_->add(parsed, *to);
        } else {
            rehash();
        }
    }
    to->entries_[route::index_of(method)] = std::move(added);
    refresh(*to);
}

void router::add_local(local_factory added) {
    for (const local_factory& each : locals_) {
        if (each.index() == added.index()) throw std::invalid_argument("local<T>: this type has a factory already");
    }
    locals_.push_back(std::move(added));
}

void router::refresh(route& of) {
    of.allow_.clear();
    const auto around = [this](std::size_t group) { return groups_[group]->all.empty() ? nullptr : &groups_[group]->all; };
    for (std::size_t i = 0; i < route::method_count; ++i) of.by_method_[i] = of.entries_[i].run != nullptr ? &of.entries_[i] : nullptr;
    const route::entry*& head = of.by_method_[route::index_of(http::method::head)];
    if (head == nullptr) head = of.by_method_[route::index_of(http::method::get)];
    for (std::size_t i = 0; i <= route::method_count; ++i) {
        const route::entry* const each = of.by_method_[i];
        of.points_[i] = around(each != nullptr ? each->group : of.group_);
        of.quick_[i] = each != nullptr && each->run->is_plain() && of.points_[i] == nullptr ? each->run.get() : nullptr;
        if (i == route::method_count || (each == nullptr && i != route::index_of(http::method::options))) continue;
        if (!of.allow_.empty()) of.allow_ += ", ";
        of.allow_ += http::text(static_cast<http::method>(i));
    }
}

// A group stands behind its parent.
void router::refresh_all() {
    for (const auto& each : groups_) {
        fixed_points all = each == groups_.front() ? fixed_points() : groups_[each->parent]->all;
        all.append(each->own);
        each->all = std::move(all);
    }
    for (const auto& each : routes_) refresh(*each);
}

std::size_t router::add_group(std::size_t parent, std::string_view prefix) {
    if (prefix.ends_with('/')) refuse(prefix, "the prefix of a group does not end with '/'");
    auto made = std::make_unique<group_node>();
    made->prefix = joined(parent, prefix);
    made->parent = parent;
    made->all = groups_[parent]->all;
    if (!made->prefix.empty()) {
        const pattern parsed(made->prefix);
        if (parsed.has_rest()) refuse(prefix, "the prefix of a group has no \"*name\"");
        for (const pattern::segment& each : parsed.segments()) made->rank += each.is == pattern::kind::literal ? 'a' : 'b';
    }
    groups_.push_back(std::move(made));
    return groups_.size() - 1;
}

// Everything is checked before anything is added.
void router::take_over(std::size_t below, std::string_view prefix, const router& other) {
    if (&other == this) refuse(prefix, "a router cannot be mounted on itself");
    const std::string whole = joined(below, prefix);
    const std::size_t groups_before = groups_.size();
    try {
        const std::size_t first = add_group(below, prefix);
        for (std::size_t i = 1; i < other.groups_.size(); ++i) add_group(first, std::string_view(other.groups_[i]->prefix));
        for (std::size_t i = 0; i < other.groups_.size(); ++i) {
            group_node& made = *groups_[first + i];
            made.own = other.groups_[i]->own;
            if (i != 0) made.parent = first + other.groups_[i]->parent;
        }
        for (const auto& each : other.routes_) {
            const std::string path = whole + each->path_;
            const pattern parsed(path);
            for (std::size_t i = 0; i < route::method_count; ++i) {
                if (each->entries_[i].run != nullptr) check(static_cast<http::method>(i), path, parsed);
            }
        }
    } catch (...) {
        groups_.resize(groups_before);
        throw;
    }
    for (const auto& each : other.routes_) {
        for (std::size_t i = 0; i < route::method_count; ++i) {
            route::entry copy = each->entries_[i];
            if (copy.run == nullptr) continue;
            copy.group += groups_before;
            place(static_cast<http::method>(i), whole + each->path_, std::move(copy));
        }
    }
    for (const local_factory& each : other.locals_) {
        const auto same = [&each](const local_factory& mine) { return mine.index() == each.index(); };
        if (std::none_of(locals_.begin(), locals_.end(), same)) locals_.push_back(each);
    }
    refresh_all();
}

route_group& route_group::add(http::method method, std::string_view path, handler h, route_options how) {
    const std::string whole = of_->joined(index_, path);
    if (!h) refuse(whole, "the handler is empty");
    of_->place(method, whole, {std::make_shared<const handler>(std::move(h)), how, index_});
    return *this;
}

route_group route_group::group(std::string_view prefix) { return route_group(*of_, of_->add_group(index_, prefix)); }

route_group& route_group::mount(std::string_view prefix, const router& other) {
    of_->take_over(index_, prefix, other);
    return *this;
}

template <class Point>
route_group& route_group::add_point(Point point) {
    of_->groups_[index_]->own.add(std::move(point));
    of_->refresh_all();
    return *this;
}

route_group& route_group::before(before_point point) { return add_point(std::move(point)); }
route_group& route_group::on_head(head_point point) { return add_point(std::move(point)); }
route_group& route_group::on_end(end_point point) { return add_point(std::move(point)); }
route_group& route_group::filter(filter_point point) { return add_point(std::move(point)); }

}  // namespace martlet::inline v0::server
