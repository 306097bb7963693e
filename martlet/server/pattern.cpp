#include <algorithm>
#include <array>
#include <stdexcept>

#include <martlet/base/scan.hpp>
#include <martlet/server/pattern_internal.hpp>

namespace martlet::inline v0::server {

namespace {

bool is_name(std::string_view text) noexcept {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (text.empty() || !letter(text.front())) return false;
    return std::all_of(text.begin(), text.end(), [letter](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Why no request could have `path`; null when one could.
const char* fault_of(std::string_view path) noexcept {
    if (path.empty() || path.front() != '/') return "a path begins with '/'";
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (c == '?' || c == '#') return "a path has no query and no fragment";
        if (c == '{' || c == '}' || c == '<' || c == '>') return "a parameter is written as \":name\", or at the end as \"*name\"";
        if (c == '%') {
            const std::string_view digits = path.substr(i + 1, 2);
            if (digits.size() != 2 || !scan::all_in(scan::byte_class::hex_digit, digits) || digits == "00")
                return "a '%' is followed by two hexadecimal digits, and not by 00";
        } else if (!scan::is_in(scan::byte_class::path, c)) {
            return "write other bytes percent-encoded, as they are sent";
        }
    }
    return nullptr;
}

}  // namespace

pattern::pattern(std::string_view path) {
    const auto refuse = [path](const char* why) { throw std::invalid_argument("route \"" + std::string(path) + "\": " + why); };
    if (const char* fault = fault_of(path)) refuse(fault);
    for (std::size_t begin = 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view text = path.substr(begin, end - begin);
        if (!text.empty() && (text.front() == ':' || text.front() == '*')) {
            const std::string_view name = text.substr(1);
            if (!is_name(name)) refuse("the name of a parameter is made of letters, digits and '_', and begins with no digit");
            if (text.front() == '*' && end != path.size()) refuse("only the last segment can be \"*name\"");
            for (const segment& each : segments_) {
                if (each.is != kind::literal && each.text == name) refuse("two parameters have the same name");
            }
            segments_.push_back({text.front() == ':' ? kind::param : kind::rest, name});
            ++params_;
        } else {
            segments_.push_back({kind::literal, text});
        }
        begin = end + 1;
    }
    if (params_ > path_params::params_max) refuse("it has more parameters than path_params::params_max");
    if (params_ != 0 && segments_.size() > router::pattern_segments_max) refuse("it has more segments than router::pattern_segments_max");
}

pattern_tree::pattern_tree() : nodes_(1), edges_(8) {}

std::uint64_t pattern_tree::hash(node_index from, std::string_view text) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t front = 0;
    std::uint64_t back = 0;
    if (text.size() >= 8) {
        std::memcpy(&front, text.data(), 8);
        std::memcpy(&back, text.data() + text.size() - 8, 8);
    } else {
        for (const char c : text) front = front << 8 | static_cast<unsigned char>(c);
    }
    const std::uint64_t mixed = (front ^ (back * odd) ^ text.size() ^ (std::uint64_t{from} << 40)) * odd;
    return mixed ^ mixed >> 32;
}

pattern_tree::node_index pattern_tree::follow(node_index from, std::string_view text) const noexcept {
    const std::size_t mask = edges_.size() - 1;
    for (std::size_t at = hash(from, text) & mask;; at = (at + 1) & mask) {
        const edge& here = edges_[at];
        if (here.to == none) return none;
        if (here.from == from && here.text == text) return here.to;
    }
}

void pattern_tree::insert(edge added) {
    const std::size_t mask = edges_.size() - 1;
    std::size_t at = hash(added.from, added.text) & mask;
    while (edges_[at].to != none) at = (at + 1) & mask;
    edges_[at] = std::move(added);
}

pattern_tree::node_index pattern_tree::make_child(node_index from, const pattern::segment& by) {
    const auto made = static_cast<node_index>(nodes_.size());
    nodes_.emplace_back();
    if (by.is == pattern::kind::param) {
        nodes_[from].param = made;
        return made;
    }
    if (++edge_count_ * 2 > edges_.size()) {
        std::vector<edge> old(edges_.size() * 2);
        old.swap(edges_);
        for (edge& each : old) {
            if (each.to != none) insert(std::move(each));
        }
    }
    insert({std::string(by.text), from, made});
    return made;
}

/// The node behind all segments but a rest; `none` when there is none, or no segment.
pattern_tree::node_index pattern_tree::walk(const pattern& of) const noexcept {
    node_index at = 0;
    for (const pattern::segment& each : of.segments()) {
        if (each.is == pattern::kind::rest) break;
        at = each.is == pattern::kind::param ? nodes_[at].param : follow(at, each.text);
        if (at == none) return none;
    }
    return at;
}

const route* pattern_tree::same_as(const pattern& of) const noexcept {
    const node_index at = walk(of);
    if (at == none) return of.has_rest() && of.segments().size() == 1 ? nodes_[0].rest : nullptr;
    return of.has_rest() ? nodes_[at].rest : nodes_[at].here;
}

void pattern_tree::add(const pattern& of, const route& to) {
    node_index at = 0;
    for (const pattern::segment& each : of.segments()) {
        if (each.is == pattern::kind::rest) {
            nodes_[at].rest = &to;
            depth_ = std::max(depth_, of.segments().size() - 1);
            return;
        }
        const node_index next = each.is == pattern::kind::param ? nodes_[at].param : follow(at, each.text);
        at = next != none ? next : make_child(at, each);
    }
    nodes_[at].here = &to;
    depth_ = std::max(depth_, of.segments().size());
}

namespace {

/// The first segments of a path: one more than any pattern looks at, so that a path is known to go on.
class segments {
public:
    segments(std::string_view path, std::size_t most) noexcept : path_(path) {
        begins_[0] = 1;
        while (size_ < most) {
            const std::size_t end = std::min(path.find('/', begins_[size_]), path.size());
            ++size_;
            begins_[size_] = end + 1;
            if (end == path.size()) break;
        }
    }
    std::size_t size() const noexcept { return size_; }
    std::size_t begin(std::size_t index) const noexcept { return begins_[index]; }
    std::size_t bytes(std::size_t index) const noexcept { return begins_[index + 1] - 1 - begins_[index]; }
    std::string_view operator[](std::size_t index) const noexcept { return path_.substr(begin(index), bytes(index)); }

private:
    std::string_view path_;
    std::size_t size_ = 0;
    std::array<std::size_t, router::pattern_segments_max + 2> begins_;
};

}  // namespace

// Depth first, and at each node in the order of specificity. Where a node was reached says which segments the parameters are: the same at
// each node of that depth, so only nodes are remembered on the way.
const route* pattern_tree::find(std::string_view path, path_params& params) const noexcept {
    if (path.empty() || path.front() != '/' || path.size() > path_params::path_bytes_max) return nullptr;
    const segments parts(path, depth_ + 1);
    enum class stage : std::uint8_t { literal, param, rest, done };
    struct step {
        node_index at;
        stage next;
        bool by_param;
    };
    std::array<step, router::pattern_segments_max + 1> steps;
    std::size_t depth = 0;
    steps[0] = {0, stage::literal, false};
    const route* found = nullptr;
    const auto descend = [&](node_index to, bool by_param) {
        if (to != none) steps[++depth] = {to, stage::literal, by_param};
    };
    while (found == nullptr) {
        step& here = steps[depth];
        const bool ended = depth == parts.size();
        switch (here.next) {
        case stage::literal:
            here.next = ended ? stage::done : stage::param;
            if (ended) {
                found = nodes_[here.at].here;
            } else {
                descend(follow(here.at, parts[depth]), false);
            }
            break;
        case stage::param:
            here.next = stage::rest;
            if (parts.bytes(depth) != 0) descend(nodes_[here.at].param, true);
            break;
        case stage::rest:
            here.next = stage::done;
            found = nodes_[here.at].rest;
            break;
        case stage::done:
            if (depth == 0) return nullptr;
            --depth;
            break;
        }
    }
    params.begin(*found);
    for (std::size_t i = 1; i <= depth; ++i) {
        if (steps[i].by_param) params.add(parts.begin(i - 1), parts.bytes(i - 1));
    }
    if (found->has_rest()) params.add(parts.begin(depth), path.size() - parts.begin(depth));
    return found;
}

}  // namespace martlet::inline v0::server
