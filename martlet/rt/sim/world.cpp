#include <martlet/rt/sim/world.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

// Of the sanitizers' run-time library, where there is one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
// A fuzz program keeps the input when it dies, by that callback and its handler of SIGABRT.
extern "C" __attribute__((weak)) int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size);

namespace martlet::inline v0::sim {

namespace {

constinit thread_local world* current_world = nullptr;

constexpr fitting_error for_random[] = {{ENOSYS}};
constexpr fitting_error for_new_descriptor[] = {{EMFILE}, {ENFILE}, {ENOMEM}};
constexpr fitting_error for_duplicate[] = {{EMFILE}};
constexpr fitting_error for_epoll_add[] = {{ENOMEM}, {ENOSPC}};
constexpr fitting_error for_epoll_wait[] = {{EINTR}};
constexpr fitting_error for_read[] = {{EIO}, {EINTR}};
constexpr fitting_error for_bind[] = {{EADDRINUSE}, {EADDRNOTAVAIL}, {EACCES}};
constexpr fitting_error for_listen[] = {{EADDRINUSE}};
constexpr fitting_error for_accept[] = {{EMFILE}, {ENFILE}, {ENOBUFS}, {ENOMEM}, {ECONNABORTED}, {EPERM}, {EINTR}};
constexpr fitting_error for_connect[] = {{ENETUNREACH},        {EADDRNOTAVAIL},   {EACCES},
                                         {ECONNREFUSED, true}, {ETIMEDOUT, true}, {EHOSTUNREACH, true}};
constexpr fitting_error for_names[] = {{ENOBUFS}};
constexpr fitting_error for_options[] = {{ENOPROTOOPT}, {ENOBUFS}};
constexpr fitting_error for_shutdown[] = {{ENOTCONN}};
constexpr fitting_error for_recv[] = {{ECONNRESET}, {ETIMEDOUT}, {ENOMEM}, {EINTR}};
constexpr fitting_error for_send[] = {{ECONNRESET}, {EPIPE}, {ENOBUFS}, {EAGAIN}, {EINTR}};
constexpr fitting_error for_send_file[] = {{ECONNRESET}, {EIO}, {ENOMEM}, {EAGAIN}, {EINTR}};
constexpr fitting_error for_recv_from[] = {{ECONNREFUSED}, {ENOMEM}, {EAGAIN}, {EINTR}};
constexpr fitting_error for_send_to[] = {{ENETUNREACH}, {EPERM}, {ENOBUFS}, {EAGAIN}};
constexpr fitting_error for_file_open[] = {{EMFILE}, {EACCES}, {ENOENT}, {EINTR}};
constexpr fitting_error for_stat[] = {{EIO}};
constexpr fitting_error for_read_at[] = {{EIO}, {EINTR}};
constexpr fitting_error for_write_at[] = {{ENOSPC}, {EIO}, {EINTR}};
constexpr fitting_error for_sync[] = {{EIO}, {ENOSPC}};
constexpr fitting_error for_path[] = {{EACCES}, {ENOENT}};
constexpr fitting_error for_process_open[] = {{EAGAIN}, {ENOMEM}, {EMFILE}, {EACCES}};
constexpr fitting_error for_process_signal[] = {{ESRCH}, {EPERM}};

struct call_traits {
    const char* name;
    std::span<const fitting_error> errors;
};

// In the order of call_kind. No errors: the call cannot fail for a reason that the caller has to expect.
const call_traits traits[] = {
    {"monotonic_ns", {}},
    {"realtime_ns", {}},
    {"random_bytes", for_random},
    {"map_pages", {}},  // fails as an allocation
    {"unmap_pages", {}},
    {"close", {}},
    {"read", for_read},
    {"write", for_send},
    {"pipe_open", for_new_descriptor},
    {"set_nonblocking", {}},
    {"duplicate", for_duplicate},
    {"epoll_open", for_new_descriptor},
    {"epoll_add", for_epoll_add},
    {"epoll_change", {}},
    {"epoll_remove", {}},
    {"epoll_wait", for_epoll_wait},
    {"eventfd_open", for_new_descriptor},
    {"eventfd_signal", {}},
    {"eventfd_drain", {}},
    {"socket_open", for_new_descriptor},
    {"bind", for_bind},
    {"listen", for_listen},
    {"accept", for_accept},
    {"connect", for_connect},
    {"local_address", for_names},
    {"peer_address", for_names},
    {"set_option", for_options},
    {"option", for_options},
    {"shutdown", for_shutdown},
    {"recv", for_recv},
    {"peek", for_recv},
    {"send", for_send},
    {"send_pieces", for_send},
    {"send_file", for_send_file},
    {"recv_from", for_recv_from},
    {"send_to", for_send_to},
    {"file_open", for_file_open},
    {"file_stat", for_stat},
    {"file_read_at", for_read_at},
    {"file_write_at", for_write_at},
    {"file_sync", for_sync},
    {"path_stat", for_path},
    {"path_set_mode", for_path},
    {"path_remove", for_path},
    {"signals_open", for_new_descriptor},
    {"signals_next", {}},
    {"signals_restore", {}},
    {"sigpipe_block", {}},
    {"sigpipe_consume", {}},
    {"process_open", for_process_open},
    {"process_signal", for_process_signal},
    {"process_reap", {}},
};
static_assert(std::size(traits) == static_cast<std::size_t>(call_kind::count_));

void say_where_it_was() {
    if (world* at = std::exchange(current_world, nullptr)) at->say_where();
}

void set_death_callback(void (*callback)()) {
    if (__sanitizer_set_death_callback != nullptr && LLVMFuzzerTestOneInput == nullptr) __sanitizer_set_death_callback(callback);
}

void aborted(int number) {
    void (*const before)(int) = current_world != nullptr ? current_world->abort_handler_before : SIG_DFL;
    say_where_it_was();
    std::signal(number, before);
    std::raise(number);
}

const call_traits& traits_of(call_kind kind) noexcept { return traits[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name(call_kind kind) noexcept { return traits_of(kind).name; }

world& here() noexcept {
    if (current_world == nullptr) {
        std::fputs("simulation: a kernel call is made while no simulation lives on this thread\n", stderr);
        std::abort();
    }
    return *current_world;
}

world* here_or_null() noexcept { return current_world; }

std::uint64_t chance::next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

bool chance::happens(double probability) noexcept {
    if (probability <= 0) return false;
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
}

world::world(const options& options)
    : with(options), order(options.seed), entropy(options.seed ^ 0x6d6172746c6574), drawn_by_tests(options.seed + 0x74657374) {
    if (current_world != nullptr) current_world->broken("one simulation at a time lives on a thread");
    current_world = this;
    // However the program dies under this simulation, it says where that was.
    abort_handler_before = std::signal(SIGABRT, &aborted);
    set_death_callback(&say_where_it_was);
    null_device->swallows = true;
    files.emplace("/dev/null", null_device);
}

world::~world() {
    // Objects may reach for the world while they go.
    happenings.clear();
    table.clear();
    std::signal(SIGABRT, abort_handler_before);
    set_death_callback(nullptr);
    current_world = nullptr;
}

bool world::has_room(std::size_t descriptors) const noexcept { return open_count + descriptors <= with.descriptors_max; }

int world::open(std::shared_ptr<object> what) {
    if (!has_room(1)) return -EMFILE;
    // The lowest free number, as POSIX demands: a descriptor used after its close meets somebody else's.
    std::size_t at = 0;
    if (open_count == table.size()) {
        at = table.size();
    } else {
        while (at < table.size() && table[at] != nullptr) ++at;
    }
    if (at == table.size()) table.emplace_back();
    ++what->references;
    table[at] = std::move(what);
    ++open_count;
    return number_first + static_cast<int>(at);
}

void world::drop_reference(const std::shared_ptr<object>& of) {
    if (--of->references == 0) of->released();
}

void world::close(int number) {
    if (find(number) == nullptr) broken("only an open descriptor is closed");
    const auto at = static_cast<std::size_t>(number - number_first);
    const std::shared_ptr<object> gone = std::move(table[at]);
    table[at] = nullptr;
    --open_count;
    while (!table.empty() && table.back() == nullptr) table.pop_back();
    drop_reference(gone);
}

object* world::find(int number) {
    const auto at = static_cast<std::size_t>(number - number_first);
    if (number >= number_first && at < table.size() && table[at] != nullptr) return table[at].get();
    broken("a kernel call takes an open descriptor (" + std::to_string(number) + " is not)");
}

std::shared_ptr<object> world::share(int number) {
    find(number);
    return table[static_cast<std::size_t>(number - number_first)];
}

void world::after(std::int64_t delay_ns, std::move_only_function<void()> action) {
    happenings.emplace(std::pair(now_ns + std::max<std::int64_t>(delay_ns, 0), ++happening_count), std::move(action));
}

void world::run_due() {
    while (!happenings.empty() && happenings.begin()->first.first <= now_ns) {
        auto action = std::move(happenings.extract(happenings.begin()).mapped());
        action();
    }
}

std::int64_t world::next_time() const noexcept { return happenings.empty() ? -1 : happenings.begin()->first.first; }

void world::move_to(std::int64_t when) noexcept {
    if (when <= now_ns) return;
    now_ns = when;
    calls_at_this_time = 0;
}

std::int64_t world::latency() {
    const std::int64_t least = with.latency_min.count();
    const std::int64_t most = with.latency_max.count();
    return most <= least ? least : least + static_cast<std::int64_t>(order.below(static_cast<std::uint64_t>(most - least + 1)));
}

void world::note_call(const call_record& record) {
    const auto mix = [this](std::uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3;
    };
    mix(static_cast<std::uint64_t>(record.kind));
    mix(static_cast<std::uint64_t>(record.number));
    mix(record.argument);
    mix(static_cast<std::uint64_t>(record.result));
    mix(static_cast<std::uint64_t>(record.at));
    // Clock reads are many and say nothing to a reader.
    if (record.kind == call_kind::monotonic_ns || record.kind == call_kind::realtime_ns) return;
    if (with.whole_trace || calls.size() < recent_calls) {
        calls.push_back(record);
    } else {
        calls[ring_at] = record;
        ring_at = (ring_at + 1) % recent_calls;
    }
}

std::string world::text(const call_record& record) const {
    char line[200];
    const double at = static_cast<double>(record.at - 1'000'000'000) / 1e6;
    char number[16] = "-";
    if (record.number >= 0) std::snprintf(number, sizeof number, "%d", record.number - number_first);
    char outcome[80];
    if (record.result < 0 && record.result > -4096) {
        const char* code = ::strerrorname_np(static_cast<int>(-record.result));
        std::snprintf(outcome, sizeof outcome, "%s%s", code != nullptr ? code : "?", record.is_injected ? " (injected)" : "");
    } else {
        std::snprintf(outcome, sizeof outcome, "%lld", static_cast<long long>(record.result));
    }
    std::snprintf(line, sizeof line, "%12.6f ms  %s(%s, %llu) = %s\n", at, traits_of(record.kind).name, number,
                  static_cast<unsigned long long>(record.argument), outcome);
    return line;
}

void world::say_where() const {
    const allocation_pause pause;
    std::string lines;
    for (std::size_t i = 0; i < calls.size() && i < recent_calls; ++i) {
        const std::size_t from = with.whole_trace && calls.size() > recent_calls ? calls.size() - recent_calls : ring_at;
        lines += "  " + text(calls[(from + i) % calls.size()]);
    }
    std::fprintf(stderr, "  (simulated: seed %llu, call %llu, %.6f ms%s%s)\n  the last calls:\n%s",
                 static_cast<unsigned long long>(with.seed), static_cast<unsigned long long>(call_count),
                 static_cast<double>(now_ns - 1'000'000'000) / 1e6, note.empty() ? "" : ", ", note.c_str(), lines.c_str());
    std::fflush(stderr);
}

void world::broken(std::string_view rule) {
    // The abort says the rest.
    std::fprintf(stderr, "simulation: %.*s\n", static_cast<int>(rule.size()), rule.data());
    std::abort();
}

void world::sigpipe() {
    if (!sigpipe_blocked) broken("SIGPIPE is blocked where a write can raise it: here it would have ended the process");
    sigpipe_pending = true;
}

call::call(call_kind kind, int number, std::uint64_t argument) : in(here()), kind_(kind), number_(number), argument_(argument) {
    const std::uint64_t count = ++in.call_count;
    if (++in.calls_at_this_time > in.with.calls_at_one_time_max) in.broken("a loop lets time pass: this one spins");
    if (!in.observer || in.observing) return;
    in.observing = true;
    const allocation_resume under_test;
    in.observer(call_facts{kind, number, count});
    in.observing = false;
}

bool call::fails() {
    const std::span<const fitting_error> errors = traits_of(kind_).errors;
    if (errors.empty()) return false;
    ++in.fallible_count;
    if (in.fail_at == in.fallible_count) {
        in.fail_at = 0;
        in.fitting = errors.size();
        error_ = in.fail_code != 0 ? fitting_error{in.fail_code} : errors[in.fail_variant % errors.size()];
    } else if (in.order.happens(in.with.error_chance[static_cast<std::size_t>(kind_)])) {
        error_ = errors[in.order.below(errors.size())];
    }
    return error_.code != 0;
}

void call::note(std::int64_t result) {
    in.note_call({kind_, number_, argument_, result, in.now_ns, error_.code != 0 && result == -error_.code});
}

}  // namespace martlet::inline v0::sim
