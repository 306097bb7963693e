// The decoder is a machine that takes one byte at a time, but for the data of chunks and the bytes inside a trailer line, which it takes in
// runs that end where single bytes would have ended them.
//
//   size_start -> size [-> extension states] -> size_lf -> data -> data_cr -> data_lf -> size_start
//                                               size_lf -> trailer_start [-> trailer -> trailer_lf -> trailer_start] -> last_lf -> complete
#include <martlet/wire/http1/chunked.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <martlet/base/assert.hpp>
#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http1/encoder.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1 {

namespace detail {

// Which state follows which in a size line, by the class of the byte (RFC 9112 section 7.1.1).
struct chunk_moves {
    using phase = chunked_decoder::phase;

    enum byte_kind : std::uint8_t { token, blank, equals, semicolon, quote, backslash, cr, text, control };
    static constexpr std::size_t kinds = 9;

    static constexpr std::array<byte_kind, 256> make_kinds() noexcept {
        std::array<byte_kind, 256> table{};
        for (unsigned i = 0; i < 256; ++i) {
            const char c = static_cast<char>(i);
            table[i] = http::is_in(c, http::class_control) ? control : text;
            if (scan::is_in(scan::byte_class::token, c)) table[i] = token;
            if (http::is_blank(c)) table[i] = blank;
        }
        table['='] = equals;
        table[';'] = semicolon;
        table['"'] = quote;
        table['\\'] = backslash;
        table['\r'] = cr;
        return table;
    }

    using enum phase;
    static constexpr phase no = failed;
    static constexpr phase end = size_lf;
    static constexpr phase next[chunked_decoder::table_states][kinds] = {
        // of: token, blank, '=', ';', '"', '\\', CR, other text, other control bytes
        {no, after_size, no, before_name, no, no, end, no, no},                 // size
        {no, after_size, no, before_name, no, no, no, no, no},                  // after_size
        {name, before_name, no, no, no, no, no, no, no},                        // before_name
        {name, after_name, before_value, before_name, no, no, end, no, no},     // name
        {no, after_name, before_value, before_name, no, no, no, no, no},        // after_name
        {value, before_value, no, no, quoted, no, no, no, no},                  // before_value
        {value, after_value, no, before_name, no, no, end, no, no},             // value
        {no, after_value, no, before_name, no, no, no, no, no},                 // after_value
        {quoted, quoted, quoted, quoted, quoted_end, escaped, no, quoted, no},  // quoted
        {quoted, quoted, quoted, quoted, quoted, quoted, no, quoted, no},       // escaped
        {no, after_value, no, before_name, no, no, end, no, no},                // quoted_end
    };
};

}  // namespace detail

namespace {

using detail::chunk_moves;

constexpr auto byte_kinds = chunk_moves::make_kinds();

constexpr std::uint8_t size_digits_max = 16;
constexpr std::uint64_t chunk_bytes_end = std::uint64_t{1} << 63;

// The value of a hexadecimal digit, or 16.
constexpr unsigned digit_value(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    const char lower = scan::lower(c);
    return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 16;
}

}  // namespace

// A take_ that fails has changed nothing, so that its byte can be left for the next feed.
content_step chunked_decoder::feed(std::string_view bytes) noexcept {
    content_step step;
    while (step.consumed < bytes.size() && phase_ < phase::complete) {
        const std::string_view left = bytes.substr(step.consumed);
        errc why = errc::none;
        std::size_t taken = 1;
        if (phase_ == phase::data) {
            if (!step.content.empty()) break;
            taken = std::min<std::uint64_t>(chunk_left_, left.size());
            step.content = left.substr(0, taken);
            chunk_left_ -= taken;
            if (chunk_left_ == 0) phase_ = phase::data_cr;
        } else if (phase_ <= phase::size_start) {
            why = take_size(left[0]);
        } else if (phase_ == phase::trailer_start || phase_ == phase::trailer) {
            why = take_trailer(left, taken);
        } else {
            why = take_line_end(left[0]);
        }
        if (why != errc::none) {
            if (!step.content.empty()) break;
            why_ = why;
            phase_ = phase::failed;
            break;
        }
        step.consumed += taken;
    }
    step.state = state();
    return step;
}

errc chunked_decoder::take_size(char c) noexcept {
    if (phase_ == phase::size || phase_ == phase::size_start) {
        if (const unsigned digit = digit_value(c); digit < 16) {
            if (digits_ == size_digits_max) return errc::bad_chunk_size;
            ++digits_;
            chunk_left_ = chunk_left_ << 4 | digit;
            phase_ = phase::size;
            return errc::none;
        }
        if (phase_ == phase::size_start) return errc::bad_chunk_size;
    }
    const phase next = chunk_moves::next[static_cast<std::size_t>(phase_)][byte_kinds[static_cast<unsigned char>(c)]];
    if (next == phase::failed) return phase_ <= phase::after_size ? errc::bad_chunk_size : errc::bad_chunk_extension;
    if (next != phase::size_lf) {
        if (section_bytes_ == limits_->chunk_extension_bytes) return errc::chunk_extension_too_large;
        if (extensions_bytes_ == limits_->chunk_extensions_bytes) return errc::chunk_extension_too_large;
        ++section_bytes_;
        ++extensions_bytes_;
    }
    phase_ = next;
    return errc::none;
}

// The CR and LF that stand alone: behind a size line's CR, behind data, and at the end of a trailer line and of the empty line.
errc chunked_decoder::take_line_end(char c) noexcept {
    const bool is_trailer = phase_ == phase::trailer_lf || phase_ == phase::last_lf;
    if (c != (phase_ == phase::data_cr ? '\r' : '\n')) return is_trailer ? errc::bad_line_end : errc::bad_chunk_end;
    if (phase_ == phase::size_lf) return finish_size_line();
    if (phase_ == phase::data_cr) {
        phase_ = phase::data_lf;
    } else if (phase_ == phase::data_lf) {
        digits_ = 0;
        section_bytes_ = 0;
        phase_ = phase::size_start;
    } else {
        if (section_bytes_ == limits_->trailer_bytes) return errc::trailers_too_large;
        if (phase_ == phase::trailer_lf) {
            if (const errc why = finish_trailer(); why != errc::none) return why;
        }
        ++section_bytes_;
        phase_ = phase_ == phase::trailer_lf ? phase::trailer_start : phase::complete;
    }
    return errc::none;
}

errc chunked_decoder::finish_size_line() noexcept {
    if (chunk_left_ >= chunk_bytes_end) return errc::bad_chunk_size;
    if (chunk_left_ == 0) {
        digits_ = 0;
        section_bytes_ = 0;
        phase_ = phase::trailer_start;
        return errc::none;
    }
    if (chunk_left_ > content_left_) return errc::content_too_large;
    // The size line with its CRLF, and the CRLF behind the data.
    const std::uint64_t framing = std::uint64_t{overhead_bytes_} + digits_ + section_bytes_ + 4;
    const std::uint64_t overhead = framing > chunk_left_ ? framing - chunk_left_ : 0;
    if (overhead > limits_->chunk_overhead_bytes) return errc::chunk_overhead_too_large;
    overhead_bytes_ = static_cast<std::uint32_t>(overhead);
    content_left_ -= chunk_left_;
    phase_ = phase::data;
    return errc::none;
}

// One byte that begins or ends a line, or all that are there inside it.
errc chunked_decoder::take_trailer(std::string_view bytes, std::size_t& taken) noexcept {
    const std::size_t room = limits_->trailer_bytes - section_bytes_;
    if (room == 0) return errc::trailers_too_large;
    taken = 1;
    if (phase_ == phase::trailer_start && bytes[0] != '\r') {
        if (digits_ == limits_->trailers) return errc::too_many_fields;
        ++digits_;
        line_start_ = static_cast<std::uint16_t>(trailers_.size());
        phase_ = phase::trailer;
        taken = 0;
        return errc::none;
    }
    if (bytes[0] == '\r') {
        phase_ = phase_ == phase::trailer ? phase::trailer_lf : phase::last_lf;
    } else {
        taken = 0;
        while (taken < bytes.size() && taken < room && !http::is_in(bytes[taken], http::class_control)) ++taken;
        if (taken == 0) return errc::bad_line_end;
        if (!trailers_.append(bytes.substr(0, taken))) return errc::out_of_memory;
    }
    section_bytes_ = static_cast<std::uint16_t>(section_bytes_ + taken);
    return errc::none;
}

// Judges the line and moves it to the others that are kept.
errc chunked_decoder::finish_trailer() noexcept {
    field_record record;
    const std::size_t bytes = trailers_.size() - line_start_;
    if (const errc why = detail::parse_field_line(trailers_.data(), trailers_.data() + line_start_, bytes, record); why != errc::none)
        return why;
    const trailer_use use = trailer_use_of(record.id);
    if (use == trailer_use::refuse) return errc::forbidden_trailer;
    if (use == trailer_use::drop) return errc::none;
    if (!trailers_.append("\r\n")) return errc::out_of_memory;
    std::memmove(trailers_.data() + kept_bytes_, trailers_.data() + line_start_, bytes + 2);
    kept_bytes_ = static_cast<std::uint16_t>(kept_bytes_ + bytes + 2);
    return errc::none;
}

trailer_use trailer_use_of(http::field_id id) noexcept {
    using http::field_id;
    switch (id) {
    case field_id::host:
    case field_id::content_length:
    case field_id::transfer_encoding:
    case field_id::connection:
    case field_id::expect:
    case field_id::upgrade: return trailer_use::refuse;
    case field_id::keep_alive:
    case field_id::te:
    case field_id::trailer:
    case field_id::http2_settings:
    case field_id::max_forwards:
    case field_id::authorization:
    case field_id::proxy_authorization:
    case field_id::proxy_authenticate:
    case field_id::www_authenticate:
    case field_id::cookie:
    case field_id::set_cookie:
    case field_id::content_encoding:
    case field_id::content_type:
    case field_id::content_range:
    case field_id::content_language:
    case field_id::content_disposition:
    case field_id::content_location:
    case field_id::cache_control:
    case field_id::pragma:
    case field_id::age:
    case field_id::date:
    case field_id::expires:
    case field_id::vary:
    case field_id::location:
    case field_id::retry_after:
    case field_id::range:
    case field_id::if_match:
    case field_id::if_none_match:
    case field_id::if_modified_since:
    case field_id::if_unmodified_since:
    case field_id::if_range:
    case field_id::forwarded:
    case field_id::x_forwarded_for:
    case field_id::x_forwarded_host:
    case field_id::x_forwarded_proto: return trailer_use::drop;
    default: return trailer_use::keep;
    }
}

char* encode_chunk_head(char* out, std::uint64_t bytes) noexcept {
    MARTLET_ASSERT(bytes != 0, "a chunk without data would end the content");
    const unsigned digits = (static_cast<unsigned>(std::bit_width(bytes)) + 3) / 4;
    for (unsigned i = 0; i < digits; ++i) out[i] = "0123456789abcdef"[bytes >> (4 * (digits - 1 - i)) & 15];
    std::memcpy(out + digits, "\r\n", 2);
    return out + digits + 2;
}

char* encode_last_chunk(char* out, std::string_view trailers) noexcept {
    std::memcpy(out, "0\r\n", 3);
    out += 3;
    if (!trailers.empty()) std::memcpy(out, trailers.data(), trailers.size());
    out += trailers.size();
    std::memcpy(out, "\r\n", 2);
    return out + 2;
}

char* try_encode_trailer(char* out, http::token name, http::field_value value) noexcept {
    if (trailer_use_of(http::field_id_of(name.text())) != trailer_use::keep) return nullptr;
    return encode_field(out, name, value);
}

}  // namespace martlet::inline v0::http1
