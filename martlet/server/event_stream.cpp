#include <martlet/server/event_stream.hpp>

#include <string>

namespace martlet::inline v0::server {

namespace {

bool is_one_line(std::string_view text) noexcept { return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos; }

// CR, LF and CR LF each end a line.
void append_lines(std::string& out, std::string_view field, std::string_view text) {
    for (;;) {
        const std::size_t end = text.find_first_of("\r\n");
        out += field;
        out += text.substr(0, end);
        out += '\n';
        if (end == text.npos) return;
        text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    }
}

}  // namespace

sink_wait event_stream::send(std::string_view name, std::string_view data, std::string_view id) {
    if (!is_one_line(name) || !is_one_line(id)) return {body_.to_, exchange_errc::invalid_field, 0};
    std::string text;
    if (!name.empty()) append_lines(text, "event: ", name);
    if (!id.empty()) append_lines(text, "id: ", id);
    append_lines(text, "data: ", data);
    text += '\n';
    return body_.send(std::string_view(text));
}

sink_wait event_stream::comment(std::string_view text) {
    std::string lines;
    append_lines(lines, ": ", text);
    lines += '\n';
    return body_.send(std::string_view(lines));
}

}  // namespace martlet::inline v0::server
