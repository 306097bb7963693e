// What takes the whole head to know: repeated fields, Host, framing, persistence, expectations.
#include <martlet/base/scan.hpp>
#include <martlet/wire/http/authority.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/field_table_internal.hpp>
#include <martlet/wire/http/status.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

using http::field_id;

consteval std::uint64_t make_singletons() {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < http::request_field_ids; ++i) {
        if ((http::detail::field_rows[i].flags & http::field_singleton) != 0) mask |= std::uint64_t{1} << i;
    }
    return mask;
}

bool has(const head_data& head, field_id id) noexcept { return (head.seen & http::field_bit(id)) != 0; }
bool is_repeated(const head_data& head, field_id id) noexcept { return (head.repeated & http::field_bit(id)) != 0; }

std::string_view value(const head_data& head, const field_record& record) noexcept {
    return {head.base + record.value_offset, record.value_bytes};
}

// The value of a field that is present and came once.
std::string_view single_value(const head_data& head, field_id id) noexcept {
    return value(head, head.records[head.last_index[static_cast<std::size_t>(id)]]);
}

// Calls `visit` with the value of each line of `id`, in order, while it returns true.
template <class Visit>
void for_each_value(const head_data& head, field_id id, Visit visit) {
    if (!is_repeated(head, id)) {
        visit(single_value(head, id));
        return;
    }
    for (std::size_t i = 0; i < head.count; ++i) {
        if (head.records[i].id == id && !visit(value(head, head.records[i]))) return;
    }
}

// RFC 9110 section 7.2, RFC 9112 sections 3.2 and 3.2.2.
errc judge_host(head_data& head, bool is_valid) noexcept {
    if (!has(head, field_id::host)) return head.line.version_minor == 0 ? errc::none : errc::missing_host;
    const field_record& record = head.records[head.last_index[static_cast<std::size_t>(field_id::host)]];
    const std::string_view text = value(head, record);
    if (head.line.form != target_form::absolute) {
        if (!is_valid && !http::authority::parse(text)) return errc::bad_host;
        head.host_offset = record.value_offset;
        head.host_bytes = record.value_bytes;
        return errc::none;
    }
    const auto field = http::authority::parse(text);
    if (!field) return errc::bad_host;
    const auto target = http::authority::parse({head.base + head.host_offset, head.host_bytes});
    const std::uint16_t usual = (head.line.flags & flag_https) != 0 ? 443 : 80;
    const bool same = target && scan::equal_ignoring_case(field->host(), target->host()) && field->port_or(usual) == target->port_or(usual);
    return same ? errc::none : errc::host_mismatch;
}

// 1*DIGIT, at most 20 of them, below 2^64 (RFC 9110 section 8.6).
bool parse_length(std::string_view text, std::uint64_t& length) noexcept {
    if (text.empty() || text.size() > 20) return false;
    length = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        if (__builtin_mul_overflow(length, 10u, &length) || __builtin_add_overflow(length, static_cast<unsigned>(c - '0'), &length))
            return false;
    }
    return true;
}

// The codings of all lines in order: exactly "chunked" is accepted (RFC 9112 sections 6.1 and 7).
errc judge_codings(const head_data& head) noexcept {
    bool malformed = false;
    bool unknown = false;
    bool chunked = false;
    for_each_value(head, field_id::transfer_encoding, [&](std::string_view list) {
        return for_each_element(list, [&](std::string_view coding) {
            // "identity" was a coding once and is none now; with it, or behind chunked, the end of the message is in doubt.
            if (chunked || !scan::is_token(coding) || scan::equal_ignoring_case(coding, "identity")) {
                malformed = true;
            } else if (scan::equal_ignoring_case(coding, "chunked")) {
                chunked = true;
            } else {
                unknown = true;
            }
            return !malformed;
        });
    });
    if (malformed) return errc::bad_transfer_coding;
    return unknown ? errc::unknown_transfer_coding : errc::none;
}

// RFC 9112 section 6.
errc judge_framing(head_data& head) noexcept {
    head.line.framing = body_framing::kind::none;
    if (has(head, field_id::transfer_encoding)) {
        if (has(head, field_id::content_length)) return errc::length_and_coding;
        if (head.line.version_minor == 0) return errc::coding_in_old_version;
        head.line.framing = body_framing::kind::chunked;
        return judge_codings(head);
    }
    if (has(head, field_id::content_length)) {
        if (!parse_length(single_value(head, field_id::content_length), head.content_length)) return errc::bad_content_length;
        head.line.framing = body_framing::kind::length;
    }
    return errc::none;
}

// RFC 9112 section 9.3 and RFC 9110 section 7.8.
void judge_connection(head_data& head) noexcept {
    bool close = false;
    bool keep_alive = false;
    bool upgrade = false;
    if (has(head, field_id::connection)) {
        for_each_value(head, field_id::connection, [&](std::string_view list) {
            return for_each_element(list, [&](std::string_view option) {
                if (option.size() == 5 && scan::equal_ignoring_case(option, "close")) close = true;
                if (option.size() == 10 && scan::equal_ignoring_case(option, "keep-alive")) keep_alive = true;
                if (option.size() == 7 && scan::equal_ignoring_case(option, "upgrade")) upgrade = true;
                return true;
            });
        });
    }
    if (!close && (head.line.version_minor != 0 || keep_alive)) head.line.flags |= flag_keep_alive;
    if (upgrade && head.line.version_minor != 0 && has(head, field_id::upgrade)) head.line.flags |= flag_upgrade;
}

// RFC 9110 section 10.1.1; a server ignores the field in HTTP/1.0.
errc judge_expectation(head_data& head) noexcept {
    if (!has(head, field_id::expect) || head.line.version_minor == 0) return errc::none;
    bool known = true;
    for_each_value(head, field_id::expect, [&](std::string_view text) {
        known = scan::equal_ignoring_case(text, "100-continue");
        return known;
    });
    if (!known) return errc::unknown_expectation;
    const bool has_content =
        head.line.framing == body_framing::kind::chunked || (head.line.framing == body_framing::kind::length && head.content_length != 0);
    if (has_content) head.line.flags |= flag_expect_continue;
    return errc::none;
}

// What a response may not hold twice; fields of requests mean nothing in it.
constexpr std::uint64_t response_singletons =
    http::field_bit(field_id::content_length) | http::field_bit(field_id::content_type) | http::field_bit(field_id::content_range);

bool has_two_locations(const head_data& head) noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < head.count; ++i) found += head.records[i].id == field_id::location;
    return found > 1;
}

// Content that the fields announce and the status or the method rules out (RFC 9112 section 6.3).
void judge_absence(head_data& head) noexcept {
    const int status = head.status;
    const bool was_chunked = head.line.framing == body_framing::kind::chunked;
    if (head.line.method == http::method::head || http::forbids_content(status)) {
        head.line.framing = body_framing::kind::none;
        // Such a sender may well go on with chunks.
        if (was_chunked && (http::is_interim(status) || status == 204)) head.line.flags &= static_cast<std::uint8_t>(~flag_keep_alive);
    } else if (status == 205) {
        const bool is_empty = head.line.framing == body_framing::kind::length && head.content_length == 0;
        if (!is_empty) head.line.flags &= static_cast<std::uint8_t>(~flag_keep_alive);
        head.line.framing = body_framing::kind::none;
    } else if (head.line.framing == body_framing::kind::none) {
        head.line.framing = body_framing::kind::close;
        head.line.flags &= static_cast<std::uint8_t>(~flag_keep_alive);
    }
}

}  // namespace

constinit const std::uint64_t singleton_fields = make_singletons();

errc finish_head(head_data& head, bool host_is_valid) noexcept {
    if ((head.repeated & singleton_fields) != 0) return errc::repeated_field;
    if (const errc why = judge_host(head, host_is_valid); why != errc::none) return why;
    if (const errc why = judge_framing(head); why != errc::none) return why;
    judge_connection(head);
    return judge_expectation(head);
}

errc finish_response(head_data& head, bool) noexcept {
    if (head.line.method == http::method::connect && head.status / 100 == 2) {
        head.line.framing = body_framing::kind::none;
        head.line.flags |= flag_tunnel;
        return errc::none;
    }
    if ((head.repeated & response_singletons) != 0 || has_two_locations(head)) return errc::repeated_field;
    if (const errc why = judge_framing(head); why != errc::none) return why;
    judge_connection(head);
    judge_absence(head);
    if (head.status == 101) {
        if ((head.line.flags & (flag_asked | flag_upgrade)) != (flag_asked | flag_upgrade)) return errc::unexpected_upgrade;
        head.line.flags |= flag_tunnel;
    }
    return errc::none;
}

}  // namespace martlet::inline v0::http1::detail
