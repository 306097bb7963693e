#include <martlet/wire/sse/encoder.hpp>

#include <algorithm>
#include <charconv>

#include <martlet/wire/sse/error.hpp>

namespace martlet::inline v0::sse {

namespace {

constexpr std::size_t npos = std::string_view::npos;

// Where what is encoded goes: nowhere but a count, or a place that has room.
class counter {
public:
    void operator()(std::string_view bytes) noexcept { bytes_ += bytes.size(); }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    std::size_t bytes_ = 0;
};

class writer {
public:
    explicit writer(char* out) noexcept : out_(out) {}
    void operator()(std::string_view bytes) noexcept { out_ += bytes.copy(out_, bytes.size()); }

private:
    char* out_;
};

template <class Sink>
void write_line(Sink& put, std::string_view name, std::string_view value) {
    put(name);
    put(value);
    put("\n");
}

// One line for each line of `text`, of which there is always one.
template <class Sink>
void write_lines(Sink& put, std::string_view name, std::string_view text) {
    for (;;) {
        const std::size_t end = text.find_first_of("\r\n");
        write_line(put, name, text.substr(0, end));
        if (end == npos) return;
        text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    }
}

template <class Sink>
void write(Sink& put, const event& of) {
    if (!of.name().empty()) write_line(put, "event: ", of.name());
    if (of.id()) write_line(put, "id: ", *of.id());
    if (of.retry()) {
        char digits[24];
        const auto wait = std::max<long long>(of.retry()->count(), 0);
        const auto end = std::to_chars(digits, digits + sizeof(digits), wait);
        write_line(put, "retry: ", {digits, end.ptr});
    }
    if (of.data()) write_lines(put, "data: ", *of.data());
    put("\n");
}

bool is_good(const event& of) noexcept {
    constexpr std::string_view ends("\r\n\0", 3);
    return of.name().find_first_of(ends) == npos && (!of.id() || of.id()->find_first_of(ends) == npos);
}

template <class Write>
void append_to(std::string& out, std::size_t bytes, Write write_all) {
    const std::size_t from = out.size();
    out.resize(from + bytes);
    writer put(out.data() + from);
    write_all(put);
}

template <class Write>
result<void> append_to(buffer& out, std::size_t bytes, Write write_all) noexcept {
    const auto room = out.prepare(bytes);
    if (room.size() < bytes) return failure(make_error(errc::no_memory));
    writer put(room.data());
    write_all(put);
    out.commit(bytes);
    return {};
}

std::size_t comment_bytes(std::string_view text) noexcept {
    counter count;
    write_lines(count, ": ", text);
    return count.bytes();
}

}  // namespace

std::size_t encoded_bytes(const event& of) noexcept {
    counter count;
    write(count, of);
    return count.bytes();
}

result<void> append(std::string& out, const event& of) {
    if (!is_good(of)) return failure(make_error(errc::bad_event));
    append_to(out, encoded_bytes(of), [&of](writer& put) { write(put, of); });
    return {};
}

result<void> append(buffer& out, const event& of) noexcept {
    if (!is_good(of)) return failure(make_error(errc::bad_event));
    return append_to(out, encoded_bytes(of), [&of](writer& put) { write(put, of); });
}

void append_comment(std::string& out, std::string_view text) {
    append_to(out, comment_bytes(text), [text](writer& put) { write_lines(put, ": ", text); });
}

result<void> append_comment(buffer& out, std::string_view text) noexcept {
    return append_to(out, comment_bytes(text), [text](writer& put) { write_lines(put, ": ", text); });
}

}  // namespace martlet::inline v0::sse
