#include <martlet/server/input.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>

namespace martlet::inline v0::server {

namespace {

std::string_view text_of(input_source from) noexcept {
    switch (from) {
    case input_source::path: return "path parameter";
    case input_source::query: return "query parameter";
    case input_source::form: return "form field";
    case input_source::cookie: return "cookie";
    case input_source::field: return "field";
    }
    return "input";
}

constexpr std::size_t name_bytes_max = 128;

/// One error's text. Never freed: errors point to it for as long as the program runs.
struct kept_text {
    std::uint64_t hash;
    input_source from;
    std::string name;
    std::string rule;
    std::string text;
};

// Twice as many as may be used, by open addressing. Read and filled without a lock: a wrong request must not make loops wait for each other.
constinit std::array<std::atomic<const kept_text*>, 2 * input_errors_max> kept_texts{};
constinit std::atomic<std::size_t> kept_count{0};

std::uint64_t hash_of(input_source from, std::string_view name, std::string_view rule) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325 + static_cast<std::uint64_t>(from);
    for (const std::string_view part : {name, rule}) {
        for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3;
    }
    return hash ^ hash >> 32;
}

// The place of the kept text; nothing when there is no room or no memory.
std::optional<std::size_t> place_of(input_source from, std::string_view name, std::string_view rule) noexcept {
    if (name.size() > name_bytes_max || rule.size() > name_bytes_max) return std::nullopt;
    const std::uint64_t hash = hash_of(from, name, rule);
    std::unique_ptr<const kept_text> made;
    for (std::size_t at = hash % kept_texts.size();; at = (at + 1) % kept_texts.size()) {
        const kept_text* here = kept_texts[at].load(std::memory_order_acquire);
        if (here == nullptr) {
            if (made == nullptr) {
                if (kept_count.fetch_add(1, std::memory_order_relaxed) >= input_errors_max) {
                    kept_count.fetch_sub(1, std::memory_order_relaxed);
                    return std::nullopt;
                }
                try {
                    made.reset(new kept_text{hash, from, std::string(name), std::string(rule),
                                             std::string(text_of(from)) + " \"" + std::string(name) + "\" " + std::string(rule)});
                } catch (const std::bad_alloc&) {
                    kept_count.fetch_sub(1, std::memory_order_relaxed);
                    return std::nullopt;
                }
            }
            if (kept_texts[at].compare_exchange_strong(here, made.get(), std::memory_order_acq_rel)) {
                made.release();
                return at;
            }
        }
        if (here->hash == hash && here->from == from && here->name == name && here->rule == rule) {
            if (made != nullptr) kept_count.fetch_sub(1, std::memory_order_relaxed);
            return at;
        }
    }
}

std::string_view text_of_code(int code) noexcept {
    if (code >= 0 && static_cast<std::size_t>(code) < kept_texts.size()) {
        if (const kept_text* here = kept_texts[static_cast<std::size_t>(code)].load(std::memory_order_acquire)) return here->text;
    }
    return "a part of the request is not as it must be";
}

}  // namespace

constinit const error_category input_category("input", text_of_code);

error input_error(input_source from, std::string_view name, std::string_view rule, std::uint16_t status) noexcept {
    const auto place = place_of(from, name, rule);
    return error(input_category, place ? static_cast<int>(*place) : -1, blame::peer, status);
}

namespace detail {

namespace {

template <class T>
std::optional<T> read_number(std::string_view text) noexcept {
    T value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<long long> read_signed(std::string_view text, long long min, long long max) noexcept {
    const auto value = read_number<long long>(text);
    return value && *value >= min && *value <= max ? value : std::nullopt;
}

std::optional<unsigned long long> read_unsigned(std::string_view text, unsigned long long max) noexcept {
    const auto value = read_number<unsigned long long>(text);
    return value && *value <= max ? value : std::nullopt;
}

std::optional<double> read_double(std::string_view text) noexcept {
    const auto value = read_number<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> read_bool(std::string_view text) noexcept {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
}

}  // namespace detail

}  // namespace martlet::inline v0::server
