// pattern: a route's path taken apart; pattern_tree: the routes with parameters, segment by segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/path_params.hpp>
#include <martlet/server/router.hpp>

namespace martlet::inline v0::server {

/// A checked pattern.
class pattern {
public:
    enum class kind : std::uint8_t { literal, param, rest };
    struct segment {
        kind is;
        std::string_view text;  // the name of a parameter
    };

    /// Throws std::invalid_argument for what no path could meet. Borrows `path`.
    explicit pattern(std::string_view path);

    const std::vector<segment>& segments() const noexcept { return segments_; }
    std::size_t params() const noexcept { return params_; }
    bool has_rest() const noexcept { return segments_.back().is == kind::rest; }

private:
    std::vector<segment> segments_;
    std::size_t params_ = 0;
};

/// Finds the most specific of its routes. A search visits each node at most once, so it is bounded by the patterns and not by the path; it
/// uses no memory but a fixed array.
class pattern_tree {
public:
    pattern_tree();

    /// The route that takes the same paths as `of`, or null.
    const route* same_as(const pattern& of) const noexcept;
    /// Adds `to` for a pattern that has parameters and no equal here.
    void add(const pattern& of, const route& to);
    const route* find(std::string_view path, path_params& params) const noexcept;

private:
    using node_index = std::uint32_t;
    static constexpr node_index none = 0;  // the root is nobody's child

    struct node {
        const route* here = nullptr;  // the path ends here
        const route* rest = nullptr;  // takes what follows
        node_index param = none;
    };
    /// A literal segment that leads from one node to another.
    struct edge {
        std::string text;
        node_index from = 0;
        node_index to = none;  // none: free
    };

    static std::uint64_t hash(node_index from, std::string_view text) noexcept;
    node_index follow(node_index from, std::string_view text) const noexcept;
    node_index make_child(node_index from, const pattern::segment& by);
    void insert(edge added);
    node_index walk(const pattern& of) const noexcept;

    std::vector<node> nodes_;
    // Open addressing; at most half are in use.
    std::vector<edge> edges_;
    std::size_t edge_count_ = 0;
    std::size_t depth_ = 0;
};

}  // namespace martlet::inline v0::server
