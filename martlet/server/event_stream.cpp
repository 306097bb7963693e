#include <martlet/server/event_stream.hpp>

#include <string>

namespace martlet::inline v0::server {

sink_wait event_stream::send(std::string_view name, std::string_view data, std::string_view id) {
    sse::event what(data);
    what.name(name);
    if (!id.empty()) what.id(id);
    return send(what);
}

sink_wait event_stream::send(const sse::event& what) {
    std::string text;
    if (!sse::append(text, what)) return {body_.to_, exchange_errc::invalid_field, 0};
    return body_.send(std::move(text));
}

sink_wait event_stream::comment(std::string_view text) {
    std::string lines;
    sse::append_comment(lines, text);
    return body_.send(std::move(lines));
}

}  // namespace martlet::inline v0::server
