// The file of a Unix socket: which it is, its permissions, and removing it. Private to this folder.
#pragma once

#include <cstdint>

namespace martlet::inline v0::net::detail {

/// Which file stands at a path.
struct socket_file {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    bool is_there = false;
    bool is_socket = false;
};

socket_file look_at(const char* path) noexcept;
/// 0 or a negated errno value.
int set_mode(const char* path, unsigned mode) noexcept;
void remove_file(const char* path) noexcept;

}  // namespace martlet::inline v0::net::detail
