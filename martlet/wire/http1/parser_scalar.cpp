// The scalar parser: the slow path, the oracle of the wide ones, and what judges a head that is not all there yet.
//
// For each line, in this order: its end must come within the limits, it may hold no control byte, and then its parts are judged. What is
// found before the end of a line is there is found in the same order then, so that splitting changes no verdict.
#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

constexpr scan_result need_more{0, errc::none};
constexpr scan_result refused(errc why) noexcept { return {0, why}; }

// How many bytes at the front are empty lines, which are ignored up to a limit (RFC 9112 section 2.2). `begun` when a request line follows.
errc skip_empty_lines(const char* data, std::uint32_t bytes, const limit_numbers& limits, std::uint32_t& skipped, bool& begun) noexcept {
    skipped = 0;
    begun = false;
    std::uint32_t lines = 0;
    while (skipped < bytes && data[skipped] == '\r') {
        if (lines++ == limits.leading_empty_lines) return errc::too_many_empty_lines;
        if (skipped + 1 == bytes) return errc::none;
        if (data[skipped + 1] != '\n') return errc::bad_line_end;
        skipped += 2;
    }
    begun = skipped < bytes;
    return errc::none;
}

// Looks for the end of the line from `position.scanned` on; its CRLF is at `scanned` when `found`.
errc find_line_end(const char* data, std::uint32_t bytes, std::uint32_t head_start, const limit_numbers& limits, scan_position& position,
                   bool& found) noexcept {
    const bool is_request_line = position.lines == 0;
    const std::uint32_t line_bytes_max = is_request_line ? limits.request_line_bytes : limits.field_bytes;
    std::uint32_t at = position.scanned;
    while (at < bytes && !http::is_in(data[at], http::class_control)) ++at;
    position.scanned = at;
    found = false;

    // The line must end, with its CRLF, before the nearer of two places.
    const std::uint32_t line_end_max = position.line_start + line_bytes_max + 2;
    const std::uint32_t head_end_max = head_start + limits.head_bytes;
    if (at + 2 > std::min(line_end_max, head_end_max)) {
        if (is_request_line) return errc::target_too_long;
        return line_end_max < head_end_max ? errc::field_too_large : errc::head_too_large;
    }
    if (at == bytes || (data[at] == '\r' && at + 1 == bytes)) return errc::none;
    if (data[at] != '\r' || data[at + 1] != '\n') return errc::bad_line_end;
    found = true;
    return errc::none;
}

void record_field(head_data& head, const field_record& record) noexcept {
    const std::uint64_t bit = http::field_bit(record.id);
    head.repeated |= head.seen & bit;
    head.seen |= bit;
    head.last_index[static_cast<std::size_t>(record.id)] = head.count;
    head.records[head.count++] = record;
}

// Judges the finished line at `position.line_start`, which is not the empty line.
errc judge_line(const char* data, std::uint32_t head_start, const limit_numbers& limits, const scan_position& position, head_data& head,
                bool record_fields) noexcept {
    const char* const line = data + position.line_start;
    const std::size_t line_bytes = position.scanned - position.line_start;
    if (position.lines == 0) return parse_request_line(line, line_bytes, limits, head);
    if (position.lines > std::min(limits.fields, head.capacity)) return errc::too_many_fields;
    field_record record;
    if (const errc why = parse_field_line(data + head_start, line, line_bytes, record); why != errc::none) return why;
    if (static_cast<std::size_t>(record.id) >= http::request_field_ids) record.id = http::field_id::other;
    if (record_fields) record_field(head, record);
    return errc::none;
}

// Whether a request line can begin as this one does. Comes before the search for its end, which may be far away.
errc judge_line_start(const char* data, std::uint32_t bytes, const limit_numbers& limits, const scan_position& position) noexcept {
    if (position.lines != 0) return errc::none;
    const std::uint32_t judged_max = std::min<std::uint32_t>(limits.method_bytes + 1u, limits.request_line_bytes);
    return judge_method_start(data + position.line_start, std::min(bytes - position.line_start, judged_max), limits);
}

}  // namespace

// field-name ":" OWS field-value OWS (RFC 9112 section 5), all of it on one line.
errc parse_field_line(const char* base, const char* line, std::size_t bytes, field_record& record) noexcept {
    const std::string_view text(line, bytes);
    if (http::is_blank(text[0])) return errc::folded_line;
    const std::size_t colon = text.find(':');
    if (colon == text.npos || !scan::is_token(text.substr(0, colon))) return errc::bad_field_name;
    std::size_t begin = colon + 1;
    std::size_t end = bytes;
    while (begin < end && http::is_blank(text[begin])) ++begin;
    while (end > begin && http::is_blank(text[end - 1])) --end;

    const http::field_id id = http::field_id_of(text.substr(0, colon));
    record.name_offset = static_cast<std::uint16_t>(line - base);
    record.name_bytes = static_cast<std::uint8_t>(std::min(colon, long_name_bytes));
    record.value_offset = static_cast<std::uint16_t>(line - base + static_cast<std::ptrdiff_t>(begin));
    record.value_bytes = static_cast<std::uint16_t>(end - begin);
    record.id = id;
    return errc::none;
}

scan_result scan_head(const char* data, std::size_t size, const limit_numbers& limits, scan_position& position, head_data& head,
                      bool record_fields) noexcept {
    // No head takes more than this, and offsets stay small.
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(size, 0x7fff'ffff));
    std::uint32_t head_start = 0;
    bool begun = false;
    if (const errc why = skip_empty_lines(data, bytes, limits, head_start, begun); why != errc::none) return refused(why);
    if (!begun) return need_more;
    if (position.line_start < head_start) position = {head_start, head_start, 0};
    if (record_fields) {
        head.count = 0;
        head.seen = head.repeated = 0;
    }

    for (;;) {
        bool found = false;
        if (const errc why = judge_line_start(data, bytes, limits, position); why != errc::none) return refused(why);
        if (const errc why = find_line_end(data, bytes, head_start, limits, position, found); why != errc::none) return refused(why);
        if (!found) return need_more;
        if (position.scanned == position.line_start) break;
        if (const errc why = judge_line(data, head_start, limits, position, head, record_fields); why != errc::none) return refused(why);
        ++position.lines;
        position.line_start = position.scanned = position.scanned + 2;
    }

    const std::uint32_t end = position.scanned + 2;
    if (record_fields) {
        head.bytes = end - head_start;
        if (const errc why = finish_head(head, false); why != errc::none) return refused(why);
    }
    return {end, errc::none};
}

parse_status parse_slowly(head_parser parser, const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                          scan_position& position) noexcept {
    const bool first_look = position.scanned == 0;
    const scan_result found = scan_head(data, bytes, limits, position, head, first_look);
    if (found.why != errc::none) return parse_status::failed(found.why);
    if (found.consumed == 0) return parse_status::need_more();
    if (!first_look) {
        // All lines are there and were judged. Now they are recorded, from the start.
        scan_position fresh;
        const parse_status status = parser(data, bytes, limits, head, fresh);
        if (!status.is_complete()) return status;
    }
    position = {};
    return parse_status(found.consumed);
}

parse_status parse_head_scalar(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                               scan_position& position) noexcept {
    return parse_slowly(&parse_head_scalar, data, bytes, limits, head, position);
}

}  // namespace martlet::inline v0::http1::detail
