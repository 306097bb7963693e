// What the tests and the fuzzer of the parser share: one attempt, in any delivery and with any parser, told as text.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <martlet/wire/http1/parser.hpp>

namespace martlet::inline v0::http1::testing {

inline constexpr parser_kind kinds[] = {parser_kind::scalar, parser_kind::sse2, parser_kind::avx2};

/// Everything that a head says, so that two heads are alike when their texts are.
inline std::string told(const request_head& head) {
    const auto number = [](std::uint64_t n) { return std::to_string(n); };
    std::string text = "[" + std::string(head.method_text()) + "|" + number(static_cast<unsigned>(head.method())) + "|" +
                       number(static_cast<unsigned>(head.version_minor())) + "|" + number(static_cast<unsigned>(head.form())) + "|" +
                       std::string(head.target()) + "|" + std::string(head.path()) + "|" + (head.has_query() ? "?" : "") +
                       std::string(head.query()) + "|" + std::string(head.host()) + "|" +
                       number(static_cast<unsigned>(head.framing().how())) + "," + number(head.framing().bytes());
    if (head.is_https()) text += "|https";
    if (head.keep_alive()) text += "|keep-alive";
    if (head.wants_upgrade()) text += "|upgrade";
    if (head.expects_continue()) text += "|expects";
    text += "] " + number(head.bytes().size());
    for (const field_view field : head) {
        text += "\n" + std::string(field.name) + "=" + std::string(field.value) + "#" + number(static_cast<unsigned>(field.id));
    }
    for (std::size_t i = 1; i < http::request_field_ids; ++i) {
        const auto id = static_cast<http::field_id>(i);
        if (head.has(id)) text += (head.is_repeated(id) ? "\n**" : "\n*") + number(i) + "=" + std::string(head.field(id).value());
    }
    return text;
}

/// The verdict: "more", "STATUS code", or "ok CONSUMED" and the head.
inline std::string told(const parse_status& status, const request_head& head) {
    if (status.needs_more()) return "more";
    if (status.is_failed()) {
        return std::to_string(status.error().http_status()) + " " + std::to_string(static_cast<unsigned>(status.code()));
    }
    return "ok " + std::to_string(status.consumed()) + " " + told(head);
}

/// Bytes that come piece by piece. What has not come yet already stands behind the end, where no parser may judge it.
class delivery {
public:
    delivery(std::string_view bytes, const head_limits& limits, std::uint16_t capacity = 200)
        : storage_(new char[bytes.size() + padding_bytes + 1]()),
          limits_(limits),
          records_(new field_record[capacity]),
          head_(records_.get(), capacity),
          in_(buffer::over(storage_.get(), bytes.size() + padding_bytes + 1)),
          left_(bytes.size()) {
        if (!bytes.empty()) std::memcpy(storage_.get(), bytes.data(), bytes.size());
    }

    /// Gives up to `bytes` more, and tries.
    parse_status give(std::size_t bytes, parser_kind kind) {
        const std::size_t more = bytes < left_ ? bytes : left_;
        static_cast<void>(in_.prepare(more));
        in_.commit(more);
        left_ -= more;
        return parse_request(kind, in_.padded(), limits_, head_, resume_);
    }
    bool is_spent() const { return left_ == 0; }
    std::size_t given() const { return in_.size(); }
    const request_head& head() const { return head_; }
    bool is_fresh() const { return resume_.is_fresh(); }

private:
    std::unique_ptr<char[]> storage_;
    head_limits limits_;
    std::unique_ptr<field_record[]> records_;
    request_head head_;
    resume_state resume_;
    buffer in_;
    std::size_t left_;
};

/// The verdict on `bytes` given `first` bytes, then `step` at a time.
inline std::string verdict(std::string_view bytes, parser_kind kind, std::size_t first, std::size_t step,
                           const head_limits& limits = head_limits(), std::uint16_t capacity = 200) {
    delivery in(bytes, limits, capacity);
    parse_status status = in.give(first, kind);
    while (status.needs_more() && !in.is_spent()) status = in.give(step, kind);
    if (status.consumed() > in.given()) return "took bytes that had not come";
    return told(status, in.head());
}

/// The verdict on `bytes` at once.
inline std::string verdict(std::string_view bytes, parser_kind kind, const head_limits& limits = head_limits(),
                           std::uint16_t capacity = 200) {
    return verdict(bytes, kind, bytes.size(), 1, limits, capacity);
}

}  // namespace martlet::inline v0::http1::testing
