// request_head: a parsed request head. It stays in wire form; this holds offsets into it and what was decided on the way. What it says of
// its fields, responses say too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http/method.hpp>
#include <martlet/wire/http1/framing.hpp>

namespace martlet::inline v0::http1 {

/// The four forms of a request target (RFC 9112 section 3.2).
enum class target_form : std::uint8_t { origin, absolute, authority, asterisk };

/// Where one field line stands. Offsets count from the first byte of the request line.
struct field_record {
    std::uint16_t name_offset;
    std::uint16_t value_offset;
    std::uint16_t value_bytes;
    std::uint8_t name_bytes;  ///< 255: that or more, the colon is to be looked for
    http::field_id id;
};
static_assert(sizeof(field_record) == 8);

/// A field as received: the name in the peer's spelling, the value without whitespace around it. Borrows the head's bytes.
struct field_view {
    std::string_view name;
    std::string_view value;
    http::field_id id;
};

namespace detail {

enum head_flags : std::uint8_t {
    flag_keep_alive = 1,
    flag_upgrade = 2,
    flag_expect_continue = 4,
    flag_query = 8,
    flag_https = 16,
    flag_no_plain_end = 32,  ///< HTTP/1.0 or an absolute target: Host alone does not settle the head
    flag_tunnel = 64,        ///< of a response: what follows is no HTTP
    flag_asked = 128,        ///< of a response: the request asked for an upgrade
};

/// What the beginning of a request line settles; eight bytes, so that the usual one is one store.
struct line_facts {
    http::method method = http::method::other;
    std::uint8_t version_minor = 0;
    target_form form = target_form::origin;
    body_framing::kind framing = body_framing::kind::none;
    std::uint8_t flags = 0;
    std::uint8_t target_offset = 0;  ///< the method and its SP
    std::uint16_t path_skip = 0;     ///< from the target to the path

    /// Of the flags in `mask` just those in `wanted` are set, and the framing is `framing`: one comparison.
    bool are(std::uint8_t mask, std::uint8_t wanted, body_framing::kind framing_wanted) const noexcept {
        std::uint16_t both;
        std::memcpy(&both, &framing, sizeof(both));
        return (both & pair(0xff, mask)) == pair(static_cast<std::uint8_t>(framing_wanted), wanted);
    }

private:
    static constexpr std::uint16_t pair(std::uint8_t first, std::uint8_t second) noexcept {
        const bool little = std::endian::native == std::endian::little;
        return static_cast<std::uint16_t>(little ? second << 8 | first : first << 8 | second);
    }
};
static_assert(sizeof(line_facts) == 8);

/// The state of a head, written by the parsers.
struct head_data {
    const char* base = nullptr;
    field_record* records = nullptr;
    std::uint64_t seen = 0;      ///< bit n: a field with id n is present
    std::uint64_t repeated = 0;  ///< bit n: more than one
    std::uint64_t content_length = 0;
    std::uint32_t bytes = 0;
    union {
        std::uint16_t target_bytes = 0;
        std::uint16_t status;  ///< of a response
    };
    std::uint16_t capacity = 0;
    line_facts line;
    union {
        std::uint16_t path_bytes = 0;
        std::uint16_t reason_bytes;  ///< of a response
    };
    std::uint16_t count = 0;
    std::uint16_t host_offset = 0;
    std::uint16_t host_bytes = 0;
    std::uint16_t last_index[http::request_field_ids];  ///< of the last record with that id; only meaningful where `seen` has its bit
};

/// How far the search for the end of a head has come; offsets from the first byte given.
struct scan_position {
    std::uint32_t scanned = 0;     ///< bytes that need no second look
    std::uint32_t line_start = 0;  ///< of the first unfinished line
    std::uint32_t lines = 0;       ///< finished, the request line included
};

struct head_access;

}  // namespace detail

/// The field lines of a parsed head: views into the bytes given to the parser.
///
/// Owns neither the bytes nor the records, allocates nothing, and is trivially copyable. Views stay valid as long as the bytes do;
/// `rebase` follows them to another place. What it says is undefined until a parse was complete.
class head_fields {
public:
    /// The bytes of the head, from its first line to the empty line inclusive.
    std::string_view bytes() const noexcept { return {data_.base, data_.bytes}; }
    /// The head's bytes are now at `bytes`: what was copied is what `bytes()` gave.
    void rebase(const char* bytes) noexcept { data_.base = bytes; }
    /// The head's records are now at `records`: `field_count()` of them were copied.
    void rebase_records(field_record* records, std::uint16_t capacity) noexcept {
        data_.records = records;
        data_.capacity = capacity;
    }
    const field_record* records() const noexcept { return data_.records; }

    /// A field with `id` is present; never `other`, and in requests never a field of responses.
    bool has(http::field_id id) const noexcept {
        if (id >= first_response_id) [[unlikely]]
            return lines_of(id) != 0;
        return id != http::field_id::other && (data_.seen & http::field_bit(id)) != 0;
    }
    /// More than one field line has `id`.
    bool is_repeated(http::field_id id) const noexcept {
        if (id >= first_response_id) [[unlikely]]
            return lines_of(id) > 1;
        return has(id) && (data_.repeated & http::field_bit(id)) != 0;
    }
    /// The value of the first field with `id`, if there is one.
    std::optional<std::string_view> field(http::field_id id) const noexcept {
        if (!has(id)) return std::nullopt;
        if (id >= first_response_id || is_repeated(id)) return first_of(id);
        return value(data_.records[data_.last_index[static_cast<std::size_t>(id)]]);
    }
    /// The value of the first field called `name`, compared without case.
    std::optional<std::string_view> field(std::string_view name) const noexcept;

    std::size_t field_count() const noexcept { return data_.count; }
    /// The field at `index` below `field_count()`, in the order received.
    field_view field_at(std::size_t index) const noexcept {
        const field_record& record = data_.records[index];
        return {name(record), value(record), record.id};
    }

    /// Forward iteration over the fields in the order received.
    class iterator {
    public:
        using value_type = field_view;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() noexcept = default;
        iterator(const head_fields* head, std::size_t index) noexcept : head_(head), index_(index) {}
        field_view operator*() const noexcept { return head_->field_at(index_); }
        iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator before = *this;
            ++index_;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.index_ == b.index_; }

    private:
        const head_fields* head_ = nullptr;
        std::size_t index_ = 0;
    };
    iterator begin() const noexcept { return {this, 0}; }
    iterator end() const noexcept { return {this, data_.count}; }

protected:
    head_fields(field_record* records, std::uint16_t capacity) noexcept {
        data_.records = records;
        data_.capacity = capacity;
    }

    std::string_view view(std::size_t offset, std::size_t bytes) const noexcept { return {data_.base + offset, bytes}; }

    detail::head_data data_;

private:
    friend struct detail::head_access;

    static constexpr http::field_id first_response_id = static_cast<http::field_id>(http::request_field_ids);

    std::string_view value(const field_record& record) const noexcept { return view(record.value_offset, record.value_bytes); }
    std::string_view name(const field_record& record) const noexcept {
        if (record.name_bytes == 255) [[unlikely]]
            return long_name(record);
        return view(record.name_offset, record.name_bytes);
    }
    std::string_view long_name(const field_record& record) const noexcept;
    std::string_view first_of(http::field_id id) const noexcept;
    std::size_t lines_of(http::field_id id) const noexcept;
};

/// A request head, and the facts that decide what becomes of the request.
class request_head : public head_fields {
public:
    /// A head that keeps its field lines in `records`, which must outlive it. `capacity` limits the fields beside `fields_max`.
    request_head(field_record* records, std::uint16_t capacity) noexcept : head_fields(records, capacity) {}

    http::method method() const noexcept { return data_.line.method; }
    /// The method's token, also when it is `other`.
    std::string_view method_text() const noexcept { return {data_.base, data_.line.target_offset - 1u}; }
    /// The minor version as sent, 0 to 9; what is above 1 is to be treated as 1.
    int version_minor() const noexcept { return data_.line.version_minor; }

    target_form form() const noexcept { return data_.line.form; }
    /// The whole request target as sent.
    std::string_view target() const noexcept { return view(data_.line.target_offset, data_.target_bytes); }
    /// The path, not decoded: "/" for an absolute target without one, "*" for the asterisk, empty for an authority.
    std::string_view path() const noexcept {
        if (data_.path_bytes == 0 && data_.line.form == target_form::absolute) return "/";
        return view(path_offset(), data_.path_bytes);
    }
    /// There is a '?' in the target.
    bool has_query() const noexcept { return (data_.line.flags & detail::flag_query) != 0; }
    /// What follows the '?', not decoded; empty when there is none.
    std::string_view query() const noexcept {
        if (!has_query()) return {};
        const std::size_t offset = path_offset() + data_.path_bytes + 1u;
        return view(offset, std::size_t{data_.line.target_offset} + data_.target_bytes - offset);
    }
    /// The authority the request is for, checked: that of the target, else Host; empty only in HTTP/1.0 without either.
    std::string_view host() const noexcept { return view(data_.host_offset, data_.host_bytes); }
    /// The target is absolute and its scheme https.
    bool is_https() const noexcept { return (data_.line.flags & detail::flag_https) != 0; }

    /// How the request's content ends.
    body_framing framing() const noexcept {
        if (data_.line.framing == body_framing::kind::none) return body_framing::none();
        if (data_.line.framing == body_framing::kind::chunked) return body_framing::chunked();
        return body_framing::length(data_.content_length);
    }
    /// The connection may carry another request after this one (RFC 9112 section 9.3).
    bool keep_alive() const noexcept { return (data_.line.flags & detail::flag_keep_alive) != 0; }
    /// HTTP/1.1 or later, no content, the connection goes on, the target is not absolute: nothing about the request needs a second look
    /// but its path and method.
    bool is_ordinary() const noexcept {
        return data_.line.are(detail::flag_keep_alive | detail::flag_no_plain_end, detail::flag_keep_alive, body_framing::kind::none);
    }
    /// path() of an ordinary head.
    std::string_view ordinary_path() const noexcept { return view(path_offset(), data_.path_bytes); }
    /// Upgrade is present and Connection names it, in HTTP/1.1 (RFC 9110 section 7.8).
    bool wants_upgrade() const noexcept { return (data_.line.flags & detail::flag_upgrade) != 0; }
    /// It wants that, and `protocol` is among those that Upgrade offers, compared without case.
    bool wants_upgrade_to(std::string_view protocol) const noexcept;
    /// The peer waits for 100 (Continue) before it sends its content. Never in HTTP/1.0, never without content.
    bool expects_continue() const noexcept { return (data_.line.flags & detail::flag_expect_continue) != 0; }

private:
    std::size_t path_offset() const noexcept { return std::size_t{data_.line.target_offset} + data_.line.path_skip; }
};

}  // namespace martlet::inline v0::http1
