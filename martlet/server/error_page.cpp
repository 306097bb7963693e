#include <martlet/server/error_page.hpp>

#include <algorithm>
#include <cstring>

#include <martlet/server/input.hpp>
#include <martlet/wire/http/accept.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/status.hpp>

namespace martlet::inline v0::server {

namespace {

std::string_view title_of(int status) noexcept {
    const std::string_view reason = http::reason(status);
    if (!reason.empty()) return reason;
    return status < 400 ? "Answer" : status < 500 ? "Client Error" : "Server Error";
}

/// Three digits.
class status_text {
public:
    explicit status_text(int status) noexcept
        : digits_{static_cast<char>('0' + status / 100 % 10), static_cast<char>('0' + status / 10 % 10),
                  static_cast<char>('0' + status % 10)} {}
    std::string_view view() const noexcept { return {digits_, 3}; }

private:
    char digits_[3];
};

/// How `c` is written inside a JSON string, in `room`.
std::string_view in_json(char c, char (&room)[6]) noexcept {
    constexpr std::string_view hex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    room[0] = '\\';
    if (c == '"' || c == '\\') {
        room[1] = c;
        return {room, 2};
    }
    if (byte < 0x20 || byte == 0x7f) {
        std::memcpy(room + 1, "u00", 3);
        room[4] = hex[byte >> 4];
        room[5] = hex[byte & 15];
        return {room, 6};
    }
    room[0] = c;
    return {room, 1};
}

std::string_view in_html(char c, char (&room)[6]) noexcept {
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: room[0] = c; return {room, 1};
    }
}

/// The bytes of the UTF-8 sequence that `text`, which is not empty, begins with; 0 when it begins with none (RFC 3629 section 4).
std::size_t sequence_bytes(std::string_view text) noexcept {
    const auto byte = [text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const auto follows = [byte](std::size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first < 0xf0) {
        const bool shortest = first != 0xe0 || byte(1) >= 0xa0;
        const bool surrogate = first == 0xed && byte(1) >= 0xa0;
        return shortest && !surrogate && follows(1) && follows(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first < 0xf5) {
        const bool in_range = (first != 0xf0 || byte(1) >= 0x90) && (first != 0xf4 || byte(1) < 0x90);
        return in_range && follows(1) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

constexpr std::string_view json_begin = "{\"type\":\"about:blank\",\"title\":\"";
constexpr std::string_view replacement = "\xef\xbf\xbd";

}  // namespace

error_page::form error_page::form_for(std::optional<std::string_view> accept) noexcept {
    if (!accept || http::trim(*accept) == "*/*" || http::trim(*accept).empty()) return form::text;
    switch (http::best_of(accept, problem_json_type.text(), "application/json", "text/html", "text/plain").value_or(3)) {
    case 0:
    case 1: return form::json;
    case 2: return form::html;
    default: return form::text;
    }
}

void error_page::put(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), sizeof bytes_ - size_);
    std::memcpy(bytes_ + size_, text.data(), bytes);
    size_ += bytes;
}

// Whole characters only: a detail may be cut anywhere, and may come from anywhere.
void error_page::put_escaped(std::string_view text, form as) noexcept {
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t bytes = sequence_bytes(rest);
        if (text.size() - rest.size() + std::max<std::size_t>(bytes, 1) > detail_bytes_max) return;
        char room[6];
        if (bytes == 0) {
            put(replacement);
        } else if (bytes > 1 || as == form::text) {
            put(rest.substr(0, bytes));
        } else {
            put(as == form::json ? in_json(rest.front(), room) : in_html(rest.front(), room));
        }
        rest.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
}

error_page::error_page(int status, std::string_view detail, std::optional<std::string_view> accept) noexcept {
    const form as = form_for(accept);
    const std::string_view title = title_of(status);
    const status_text number(status);
    switch (as) {
    case form::text:
        type_ = http::media::text;
        put(title);
        if (!detail.empty()) put("\n");
        put_escaped(detail, as);
        break;
    case form::html:
        type_ = http::media::html;
        for (const std::string_view part :
             {std::string_view("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>"), number.view(), std::string_view(" "),
              title, std::string_view("</title>\n<h1>"), number.view(), std::string_view(" "), title, std::string_view("</h1>\n")}) {
            put(part);
        }
        if (!detail.empty()) {
            put("<p>");
            put_escaped(detail, as);
            put("</p>\n");
        }
        put("</html>\n");
        break;
    case form::json:
        type_ = http::content_type(problem_json_type);
        for (const std::string_view part : {json_begin, title, std::string_view("\",\"status\":"), number.view()}) put(part);
        if (!detail.empty()) {
            put(",\"detail\":\"");
            put_escaped(detail, as);
            put("\"");
        }
        put("}");
        break;
    }
}

// The form depends on Accept, and a cache must know (RFC 9110 section 12.5.5).
exchange_errc respond_error(exchange& x, int status, std::string_view detail, std::string_view fields) noexcept {
    const error_page page(status, detail, x.field(http::field_id::accept));
    if (fields.empty()) return x.respond(response_head(status, page.type(), "Vary: Accept\r\n"), page.content());
    char all[1024];
    constexpr std::string_view vary = "Vary: Accept\r\n";
    const bool fits = fields.size() <= sizeof all - vary.size();
    if (fits) {
        std::memcpy(all, fields.data(), fields.size());
        std::memcpy(all + fields.size(), vary.data(), vary.size());
    }
    return x.respond(response_head(status, page.type(), fits ? std::string_view(all, fields.size() + vary.size()) : fields),
                     page.content());
}

std::string_view public_detail(const error& why) noexcept { return &why.category() == &input_category ? why.text() : std::string_view(); }

std::string problem_json(int status, std::string_view detail) {
    std::string all(json_begin);
    all += title_of(status);
    all += "\",\"status\":";
    all += status_text(status).view();
    if (!detail.empty()) {
        all += ",\"detail\":\"";
        while (!detail.empty()) {
            const std::size_t bytes = sequence_bytes(detail);
            char room[6];
            all += bytes == 0 ? replacement : bytes > 1 ? detail.substr(0, bytes) : in_json(detail.front(), room);
            detail.remove_prefix(std::max<std::size_t>(bytes, 1));
        }
        all += '"';
    }
    all += '}';
    return all;
}

}  // namespace martlet::inline v0::server
