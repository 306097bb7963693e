#include <martlet/rt/log_stderr.hpp>

#include <new>
#include <span>

#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::log {

namespace {

constexpr std::size_t line_bytes_max = 4096;

class stderr_lines final : public sink {
public:
    void write(const record& what) noexcept override {
        char line[line_bytes_max];
        std::size_t size = format_line(what, std::span<char>(line, line_bytes_max - 1));
        line[size++] = '\n';
        // A log that cannot be written has nowhere to complain.
        static_cast<void>(kernel::write(to_, line, size));
    }

private:
    // The process's own descriptor: it is never closed, since the sink is never destroyed.
    descriptor to_{2};
};

}  // namespace

sink& stderr_sink() noexcept {
    alignas(stderr_lines) static unsigned char memory[sizeof(stderr_lines)];
    static sink* const only = new (memory) stderr_lines();
    return *only;
}

}  // namespace martlet::inline v0::log
