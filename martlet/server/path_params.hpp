// path_params: where in a request's path the parts stand that its route's pattern left open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace martlet::inline v0::server {

class route;

/// Offsets into the path, so that they stay right when the head moves. Small, and trivially copyable.
class path_params {
public:
    /// Parameters of one route, a `*rest` included; a route with more is refused when it is added.
    static constexpr std::size_t params_max = 8;
    /// No parameter is found in a longer path.
    static constexpr std::size_t path_bytes_max = 0xffff;

    std::size_t size() const noexcept { return size_; }
    /// The route that has the names. Null without parameters.
    const route* of() const noexcept { return size_ != 0 ? of_ : nullptr; }
    /// The part of `path` with that number, below size(), as sent.
    std::string_view at(std::size_t index, std::string_view path) const noexcept {
        return path.substr(parts_[index].begin, parts_[index].bytes);
    }

    void clear() noexcept { size_ = 0; }
    /// For the router: the parts of `of` follow, at most params_max.
    void begin(const route& of) noexcept {
        size_ = 0;
        of_ = &of;
    }
    void add(std::size_t begin, std::size_t bytes) noexcept {
        parts_[size_++] = {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(bytes)};
    }

private:
    struct part {
        std::uint16_t begin;
        std::uint16_t bytes;
    };

    std::uint16_t size_ = 0;
    part parts_[params_max];
    const route* of_;
};

}  // namespace martlet::inline v0::server
