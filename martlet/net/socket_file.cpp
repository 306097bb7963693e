#include <martlet/net/socket_file_internal.hpp>

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace martlet::inline v0::net::detail {

socket_file look_at(const char* path) noexcept {
    struct ::stat facts;
    socket_file seen;
    if (::lstat(path, &facts) < 0) return seen;
    seen.device = facts.st_dev;
    seen.number = facts.st_ino;
    seen.is_there = true;
    seen.is_socket = S_ISSOCK(facts.st_mode);
    return seen;
}

int set_mode(const char* path, unsigned mode) noexcept { return ::chmod(path, mode) < 0 ? -errno : 0; }

void remove_file(const char* path) noexcept { ::unlink(path); }

}  // namespace martlet::inline v0::net::detail
