// The seam over the simulation: files and processes.
#include <martlet/rt/kernel.hpp>

#include <cerrno>
#include <string>
#include <string_view>

#include <martlet/rt/sim/objects.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::kernel {

using sim::call;
using sim::call_kind;

int file_open(const char* path, open_mode mode) noexcept {
    call now(call_kind::file_open, -1, static_cast<std::uint64_t>(mode));
    if (now.fails()) return now.fail();
    auto at = now.in.files.find(std::string_view(path));
    if (at == now.in.files.end()) {
        if (mode == open_mode::read) return now.done(-ENOENT);
        now.in.face->add_file(path, "");
        at = now.in.files.find(std::string_view(path));
    }
    if (at->second->is_socket) return now.done(-ENXIO);
    if (at->second->is_directory && mode != open_mode::read) return now.done(-EISDIR);
    if (!now.in.has_room(1)) return now.done(-EMFILE);
    if (mode == open_mode::write_truncate) at->second->content.clear();
    return now.done(now.in.open(std::make_shared<sim::open_file>(at->second, mode)));
}

// Names are plain in the simulation: there are no links, and a step upwards leads out.
int file_open_beneath(const descriptor& directory, const char* path) noexcept {
    call now(call_kind::file_open, directory.number());
    if (now.fails()) return now.fail();
    const auto* of = now.in.find_as<sim::open_file>(directory.number());
    if (of == nullptr || !of->node().is_directory) return now.done(-ENOTDIR);
    const std::string_view below = path;
    if (below.starts_with("..") || below.find("/..") != below.npos) return now.done(-EXDEV);
    for (const auto& [name, node] : now.in.files) {
        if (node.get() != &of->node()) continue;
        const auto at = now.in.files.find(below == "." ? std::string(name) : std::string(name) + "/" + path);
        if (at == now.in.files.end()) return now.done(-ENOENT);
        if (!now.in.has_room(1)) return now.done(-EMFILE);
        return now.done(now.in.open(std::make_shared<sim::open_file>(at->second, open_mode::read)));
    }
    return now.done(-ENOENT);
}

namespace {

void note_facts(const sim::file_node& node, file_facts* out) noexcept {
    out->size = static_cast<std::int64_t>(node.content.size());
    out->modified_ns = node.modified_ns;
    out->device = 1;
    out->inode = node.inode;
    out->mode = node.mode;
    out->is_regular = !node.is_directory && !node.is_socket && !node.swallows;
    out->is_directory = node.is_directory;
    out->is_socket = node.is_socket;
}

}  // namespace

int file_stat(const descriptor& file, file_facts* out) noexcept {
    call now(call_kind::file_stat, file.number());
    auto* of = now.in.find_as<sim::open_file>(file.number());
    if (now.fails()) return now.fail();
    *out = file_facts{};
    if (of != nullptr) note_facts(of->node(), out);
    return now.done(0);
}

std::ptrdiff_t file_read_at(const descriptor& file, void* out, std::size_t size, std::int64_t offset) noexcept {
    call now(call_kind::file_read_at, file.number(), size);
    auto* from = now.in.find_as<sim::open_file>(file.number());
    if (from == nullptr) return now.done<std::ptrdiff_t>(-ESPIPE);
    if (now.fails()) return now.fail<std::ptrdiff_t>();
    return now.done(from->read_at(out, size, offset));
}

std::ptrdiff_t file_write_at(const descriptor& file, const void* data, std::size_t size, std::int64_t offset) noexcept {
    call now(call_kind::file_write_at, file.number(), size);
    auto* to = now.in.find_as<sim::open_file>(file.number());
    if (to == nullptr) return now.done<std::ptrdiff_t>(-ESPIPE);
    if (now.fails()) return now.fail<std::ptrdiff_t>();
    return now.done(to->write_at(data, size, offset));
}

int file_sync(const descriptor& file) noexcept {
    call now(call_kind::file_sync, file.number());
    const bool is_file = now.in.find_as<sim::open_file>(file.number()) != nullptr;
    if (now.fails()) return now.fail();
    return now.done(is_file ? 0 : -EINVAL);
}

int path_stat(const char* path, file_facts* out) noexcept {
    call now(call_kind::path_stat, -1);
    if (now.fails()) return now.fail();
    const auto at = now.in.files.find(std::string_view(path));
    if (at == now.in.files.end()) return now.done(-ENOENT);
    *out = file_facts{};
    note_facts(*at->second, out);
    return now.done(0);
}

int path_set_mode(const char* path, std::uint32_t mode) noexcept {
    call now(call_kind::path_set_mode, -1, mode);
    if (now.fails()) return now.fail();
    const auto at = now.in.files.find(std::string_view(path));
    if (at == now.in.files.end()) return now.done(-ENOENT);
    at->second->mode = mode & 07777;
    return now.done(0);
}

int path_remove(const char* path) noexcept {
    call now(call_kind::path_remove, -1);
    if (now.fails()) return now.fail();
    const auto at = now.in.files.find(std::string_view(path));
    if (at == now.in.files.end()) return now.done(-ENOENT);
    if (at->second->is_directory) return now.done(-EISDIR);
    now.in.files.erase(at);
    return now.done(0);
}

int process_open(const process_start& what, int* pid) noexcept {
    call now(call_kind::process_open, -1);
    const auto share = [&](const descriptor* of) { return of == nullptr ? nullptr : now.in.share(of->number()); };
    auto input = share(what.input);
    auto output = share(what.output);
    auto error = share(what.error);
    if (now.fails()) return now.fail();
    const auto script = now.in.programs.find(std::string_view(what.path));
    if (script == now.in.programs.end()) return now.done(-ENOENT);
    if (!now.in.has_room(1)) return now.done(-EMFILE);
    auto made = std::make_shared<sim::process>(script->second, std::move(input), std::move(output), std::move(error));
    made->start();
    *pid = now.in.next_pid++;
    return now.done(now.in.open(std::move(made)));
}

int process_signal(const descriptor& pidfd, int number) noexcept {
    call now(call_kind::process_signal, pidfd.number(), static_cast<std::uint64_t>(number));
    auto* which = now.in.find_as<sim::process>(pidfd.number());
    if (which == nullptr) return now.done(-EBADF);
    if (now.fails()) return now.fail();
    return now.done(which->signal(number));
}

int process_reap(const descriptor& pidfd, int* status) noexcept {
    call now(call_kind::process_reap, pidfd.number());
    auto* which = now.in.find_as<sim::process>(pidfd.number());
    return now.done(which == nullptr ? -EBADF : which->reap(status));
}

}  // namespace martlet::inline v0::kernel
