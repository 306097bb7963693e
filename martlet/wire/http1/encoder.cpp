#include <martlet/wire/http1/encoder.hpp>

#include <algorithm>
#include <array>
#include <cstring>

#include <martlet/wire/http/date.hpp>
#include <martlet/wire/http/status.hpp>

namespace martlet::inline v0::http1 {

namespace {

// A piece of a head in a room that is always copied whole, which is cheaper than as many bytes as there are.
struct piece {
    char text[47];
    std::uint8_t size;
};
static_assert(sizeof(piece) == 48);

consteval piece make_piece(std::string_view before, std::string_view text, std::string_view after) {
    piece made{};
    for (const std::string_view part : {before, text, after}) {
        if (made.size + part.size() > sizeof(made.text)) throw "the piece is too long";
        for (const char c : part) made.text[made.size++] = c;
    }
    return made;
}

char* put(char* out, const piece& what) noexcept {
    std::memcpy(out, &what, sizeof(piece));
    return out + what.size;
}

char* put(char* out, std::string_view what) noexcept {
    if (!what.empty()) std::memcpy(out, what.data(), what.size());
    return out + what.size();
}

template <std::size_t Size>
char* put(char* out, const char (&literal)[Size]) noexcept {
    std::memcpy(out, literal, Size - 1);
    return out + Size - 1;
}

constexpr int status_min = 100;
constexpr int statuses = 500;

consteval std::size_t count_known() {
    std::size_t known = 0;
    for (int i = 0; i < statuses; ++i) known += !http::reason(status_min + i).empty();
    return known;
}

struct status_table {
    std::array<piece, count_known() + 1> lines;  // the first is for none
    std::array<std::uint8_t, statuses> index;
};

consteval status_table make_status_table() {
    status_table table{};
    std::uint8_t next = 1;
    for (int i = 0; i < statuses; ++i) {
        const std::string_view reason = http::reason(status_min + i);
        if (reason.empty()) continue;
        const int status = status_min + i;
        const char digits[] = {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
                               static_cast<char>('0' + status % 10), ' '};
        table.lines[next] = make_piece("HTTP/1.1 ", {digits, 4}, {});
        for (const char c : reason) table.lines[next].text[table.lines[next].size++] = c;
        for (const char c : std::string_view("\r\n")) table.lines[next].text[table.lines[next].size++] = c;
        table.index[static_cast<std::size_t>(i)] = next++;
    }
    return table;
}

constexpr status_table status_lines = make_status_table();

// RFC 9112 section 4: the reason phrase may be empty, the SP before it may not be missing.
[[gnu::noinline]] char* put_unknown_status(char* out, int status) noexcept {
    out = put(out, "HTTP/1.1 ");
    out[0] = static_cast<char>('0' + status / 100 % 10);
    out[1] = static_cast<char>('0' + status / 10 % 10);
    out[2] = static_cast<char>('0' + status % 10);
    return put(out + 3, " \r\n");
}

char* put_status_line(char* out, int status) noexcept {
    const auto offset = static_cast<unsigned>(status - status_min);
    const unsigned line = offset < statuses ? status_lines.index[offset] : 0u;
    return line != 0 ? put(out, status_lines.lines[line]) : put_unknown_status(out, status);
}

constexpr std::size_t media_types = static_cast<std::size_t>(http::media::custom);

consteval std::array<piece, media_types> make_type_pieces() {
    std::array<piece, media_types> pieces{};
    for (std::size_t i = 1; i < media_types; ++i) pieces[i] = make_piece("Content-Type: ", text(static_cast<http::media>(i)), "\r\n");
    return pieces;
}

constexpr std::array<piece, media_types> type_pieces = make_type_pieces();

consteval detail::digit_pair_table make_digit_pairs() {
    detail::digit_pair_table out{};
    for (std::size_t i = 0; i < 100; ++i) {
        out.text[2 * i] = static_cast<char>('0' + i / 10);
        out.text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return out;
}

}  // namespace

constinit const detail::digit_pair_table detail::digit_pairs = make_digit_pairs();

response_prefix::response_prefix(http::field_value server) noexcept {
    char* out = bytes_;
    const std::string_view value = server.text().substr(0, server_bytes_max);
    if (!value.empty()) {
        out = put(out, "Server: ");
        out = put(out, value);
        out = put(out, "\r\n");
    }
    out = put(out, "Date: ");
    date_offset_ = static_cast<std::uint32_t>(out - bytes_);
    size_ = date_offset_ + static_cast<std::uint32_t>(http::date_bytes) + 2;
    static_assert(8 + server_bytes_max + 2 + 6 + http::date_bytes + 2 <= sizeof(bytes_));
    encode(0);
}

void response_prefix::encode(std::int64_t unix_seconds) noexcept {
    put(http::write_date(bytes_ + date_offset_, unix_seconds), "\r\n");
    seconds_ = unix_seconds;
    for (detail::usual_head& each : heads_) each.type = http::media::custom;
}

char* encode_decimal(char* out, std::uint64_t number) noexcept {
    if (number < 10) {
        *out = static_cast<char>('0' + number);
        return out + 1;
    }
    if (number < 100) {
        std::memcpy(out, &detail::digit_pairs.text[2 * number], 2);
        return out + 2;
    }
    char digits[20];
    std::size_t at = sizeof(digits);
    while (number >= 100) {
        at -= 2;
        std::memcpy(digits + at, &detail::digit_pairs.text[2 * (number % 100)], 2);
        number /= 100;
    }
    if (number >= 10) {
        at -= 2;
        std::memcpy(digits + at, &detail::digit_pairs.text[2 * number], 2);
    } else {
        digits[--at] = static_cast<char>('0' + number);
    }
    return put(out, std::string_view(digits + at, sizeof(digits) - at));
}

char* encode_plain_head(char* out, int status, http::media type, std::uint64_t content_length, const response_prefix& prefix) noexcept {
    if (status < status_min || status >= status_min + statuses || type == http::media::custom) {
        return encode_any_head(out, status, type, body_framing::length(content_length), {}, persistence::keep, prefix);
    }
    detail::usual_head& place = prefix.place_of(status, type);
    char* const start = out;
    if (place.status == status && place.type == type) {
        out = put(out, std::string_view(place.bytes, place.size));
    } else {
        const unsigned line = status_lines.index[static_cast<unsigned>(status - status_min)];
        out = line != 0 ? put(out, status_lines.lines[line]) : put_unknown_status(out, status);
        out = put(out, prefix.bytes());
        out = put(out, type_pieces[static_cast<std::size_t>(type)]);
        out = put(out, "Content-Length: ");
        const auto size = static_cast<std::size_t>(out - start);
        if (size <= detail::usual_head::bytes_max && !http::forbids_content(status)) {
            std::memcpy(place.bytes, start, size);
            place.size = static_cast<std::uint8_t>(size);
            place.status = status;
            place.type = type;
        }
    }
    return put(encode_decimal(out, content_length), "\r\n\r\n");
}

char* encode_any_head(char* out, int status, http::content_type type, body_framing framing, std::string_view extra, persistence connection,
                      const response_prefix& prefix) noexcept {
    out = put_status_line(out, status);
    out = put(out, prefix.bytes());
    if (type.id() == http::media::custom) {
        out = put(out, "Content-Type: ");
        out = put(out, type.value());
        out = put(out, "\r\n");
    } else {
        out = put(out, type_pieces[static_cast<std::size_t>(type.id())]);
    }
    if (framing.is_length()) {
        out = put(out, "Content-Length: ");
        out = put(encode_decimal(out, framing.bytes()), "\r\n");
    } else if (framing.is_chunked()) {
        out = put(out, "Transfer-Encoding: chunked\r\n");
    }
    out = put(out, extra);
    if (connection == persistence::close) out = put(out, "Connection: close\r\n");
    if (connection == persistence::keep_alive) out = put(out, "Connection: keep-alive\r\n");
    return put(out, "\r\n");
}

char* encode_interim_head(char* out, int status, std::string_view extra) noexcept {
    out = put(put_status_line(out, status), extra);
    return put(out, "\r\n");
}

char* encode_switching_head(char* out, http::field_value protocol, std::string_view extra, const response_prefix& prefix) noexcept {
    out = put(put_status_line(out, 101), prefix.bytes());
    out = put(out, "Connection: Upgrade\r\nUpgrade: ");
    out = put(out, protocol.text());
    out = put(out, "\r\n");
    out = put(out, extra);
    return put(out, "\r\n");
}

char* encode_field(char* out, http::field_id id, http::field_value value) noexcept {
    out = put(out, http::text_with_colon(id));
    *out++ = ' ';
    out = put(out, value.text());
    return put(out, "\r\n");
}

char* encode_field(char* out, http::token name, http::field_value value) noexcept {
    out = put(out, name.text());
    out = put(out, ": ");
    out = put(out, value.text());
    return put(out, "\r\n");
}

}  // namespace martlet::inline v0::http1
