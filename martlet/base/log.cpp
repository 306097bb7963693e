#include <martlet/base/log.hpp>

#include <atomic>
#include <charconv>
#include <cstring>

namespace martlet::inline v0::log {

namespace {

constinit std::atomic<sink*> current{nullptr};
constinit std::atomic<level> lowest{level::info};

/// Writes to a span and remembers whether all of it fitted.
class writer {
public:
    explicit writer(std::span<char> out) noexcept : out_(out) {}

    void put(char c) noexcept {
        if (size_ < out_.size()) {
            out_[size_++] = c;
        } else {
            cut_ = true;
        }
    }
    /// All of `part`, or what fits: an escape is never cut in two.
    void put(std::string_view part) noexcept {
        if (part.size() > out_.size() - size_) {
            cut_ = true;
            out_ = out_.first(size_);
            return;
        }
        std::memcpy(out_.data() + size_, part.data(), part.size());
        size_ += part.size();
    }
    template <class T>
    void put_number(T value) noexcept {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    }
    void put_escaped(char c) noexcept {
        static constexpr char hex[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
        case '"': return put(std::string_view("\\\""));
        case '\\': return put(std::string_view("\\\\"));
        case '\n': return put(std::string_view("\\n"));
        case '\r': return put(std::string_view("\\r"));
        case '\t': return put(std::string_view("\\t"));
        default: break;
        }
        if (byte >= 0x20 && byte != 0x7f) return put(c);
        const char escape[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
        put(std::string_view(escape, sizeof escape));
    }
    void put_quoted(std::string_view text) noexcept {
        put('"');
        for (const char c : text) put_escaped(c);
        put('"');
    }
    std::size_t size() const noexcept { return size_; }
    bool cut() const noexcept { return cut_; }

private:
    std::span<char> out_;
    std::size_t size_ = 0;
    bool cut_ = false;
};

bool is_plain(std::string_view text) noexcept {
    if (text.empty()) return false;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7f || c == '"' || c == '=' || c == '\\') return false;
    }
    return true;
}

/// A name goes as it is where it can be no other thing; bytes that would end it become `_`.
void put_name(writer& out, std::string_view name) noexcept {
    if (name.empty()) return out.put('_');
    for (const char c : name) out.put(is_plain(std::string_view(&c, 1)) ? c : '_');
}

void put_value(writer& out, const field& of) noexcept {
    switch (of.value_kind()) {
    case field::kind::text:
        if (is_plain(of.text())) return out.put(of.text());
        return out.put_quoted(of.text());
    case field::kind::integer: return out.put_number(of.integer());
    case field::kind::natural: return out.put_number(of.natural());
    case field::kind::real: return out.put_number(of.real());
    case field::kind::boolean: return out.put(of.boolean() ? std::string_view("true") : std::string_view("false"));
    }
}

}  // namespace

std::string_view name_of(level of) noexcept {
    switch (of) {
    case level::debug: return "debug";
    case level::info: return "info";
    case level::warn: return "warn";
    case level::error: return "error";
    case level::off: break;
    }
    return "off";
}

sink* set_sink(sink* to) noexcept { return current.exchange(to, std::memory_order_acq_rel); }
void set_level(level least) noexcept { lowest.store(least, std::memory_order_relaxed); }

bool enabled(level of) noexcept {
    return of != level::off && of >= lowest.load(std::memory_order_relaxed) && current.load(std::memory_order_relaxed) != nullptr;
}

void write(level of, std::string_view message, std::span<const field> fields) noexcept {
    if (!enabled(of)) return;
    if (sink* to = current.load(std::memory_order_acquire)) to->write(record(of, message, fields));
}

std::size_t format_line(const record& what, std::span<char> out) noexcept {
    static constexpr std::string_view dots = "...";
    if (out.size() < dots.size()) return 0;
    writer line(out.first(out.size() - dots.size()));
    line.put(std::string_view("level="));
    line.put(name_of(what.severity()));
    line.put(std::string_view(" msg="));
    line.put_quoted(what.message());
    for (const field& one : what.fields()) {
        line.put(' ');
        put_name(line, one.name());
        line.put('=');
        put_value(line, one);
    }
    if (!line.cut()) return line.size();
    std::memcpy(out.data() + line.size(), dots.data(), dots.size());
    return line.size() + dots.size();
}

}  // namespace martlet::inline v0::log
