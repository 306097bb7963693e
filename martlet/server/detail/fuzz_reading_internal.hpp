// How the fuzz programs of the server judge it: requests found in the bytes by the codecs alone, answers read by the client's parser, and what
// the one must say of the other.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/detail/fuzz_routes_internal.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/wire/http1/content.hpp>
#include <martlet/wire/http1/parser.hpp>
#include <martlet/wire/http1/response_parser.hpp>

namespace martlet::server::fuzzing {

/// One request as the bytes say it.
struct asked {
    enum class part { whole, unfinished, failed };

    http::method method = http::method::get;
    bool keeps = true;
    bool waits_for_100 = false;
    bool is_old = false;
    std::string content;
    part state = part::whole;
    int failed_status = 0;
    std::size_t head_end = 0;
    std::size_t end = 0;
    fuzzing::expected expected;
};

/// All requests in the bytes, up to what cannot be one.
class requests {
public:
    requests(const router& app, const limits& bounds, std::string_view bytes) {
        const auto heads = http1::head_limits()
                               .request_line_bytes_max(bounds.request_line_bytes_max())
                               .head_bytes_max(bounds.head_bytes_max())
                               .fields_max(bounds.fields_max())
                               .field_bytes_max(bounds.field_bytes_max());
        buffer in(bytes.size() + 1);
        require(in.append(bytes), "there is memory for the input");
        std::vector<http1::field_record> records(bounds.fields_max() + std::size_t{1});
        while (!in.empty()) {
            http1::request_head head(records.data(), static_cast<std::uint16_t>(records.size()));
            http1::resume_state resume;
            const http1::parse_status parsed = http1::parse_request(http1::parser_kind::scalar, in.padded(), heads, head, resume);
            if (parsed.is_failed()) refused_ = parsed.error().http_status();
            pending_ = parsed.needs_more();
            if (!parsed.is_complete()) {
                std::string_view begun = bytes.substr(bytes.size() - in.size());
                if (begun.starts_with("\r\n")) begun.remove_prefix(2);
                refused_method_ = begun.starts_with("HEAD ") ? http::method::head : http::method::get;
                return;
            }
            add(app, bounds, bytes, head, bytes.size() - in.size() + parsed.consumed());
            if (all.back().state != asked::part::whole) return;
            in.consume(in.size() - (bytes.size() - all.back().end));
        }
    }

    /// The status of the head behind them that is none; 0 when there is no such head.
    int refused() const { return refused_; }
    /// Of the head that is none, or that did not end: HEAD, or another.
    http::method refused_method() const { return refused_method_; }
    /// The last bytes are the beginning of a head.
    bool is_head_pending() const { return pending_; }

    std::vector<asked> all;

private:
    void add(const router& app, const limits& bounds, std::string_view bytes, const http1::request_head& head, std::size_t head_end) {
        asked one{.method = head.method(),
                  .keeps = head.keep_alive(),
                  .waits_for_100 = head.expects_continue(),
                  .is_old = head.version_minor() == 0,
                  .content = {},
                  .head_end = head_end,
                  .end = head_end,
                  .expected = fuzzing::expected(app, head.method(), head.path(), head.target(), {})};
        const bool dropped = !one.expected.is_handled() || one.expected.options().ignores_body();
        const std::uint64_t most =
            dropped ? http1::content_unlimited : one.expected.options().body_bytes_max().value_or(bounds.body_bytes_max());
        const http1::content_limits chunks;
        http1::content_decoder decoder(head.framing(), chunks, most);
        while (decoder.state() == http1::content_state::more && one.end < bytes.size()) {
            const http1::content_step step = decoder.feed(bytes.substr(one.end));
            one.content += step.content;
            one.end += step.consumed;
        }
        if (decoder.state() == http1::content_state::more) one.state = asked::part::unfinished;
        if (decoder.state() == http1::content_state::failed) {
            one.state = asked::part::failed;
            one.failed_status = decoder.error().http_status();
        }
        one.expected = fuzzing::expected(app, head.method(), head.path(), head.target(), one.content);
        all.push_back(std::move(one));
    }

    int refused_ = 0;
    http::method refused_method_ = http::method::get;
    bool pending_ = false;
};

/// One answer as a client understands it.
struct told {
    int status = 0;
    std::string fields;  // without those that say when, and what becomes of the connection
    std::string content;
    bool keeps = false;
    bool whole = false;
    bool tunnel = false;
    bool until_close = false;

    friend bool operator==(const told&, const told&) = default;
};

/// How a connection stood when nothing more happened.
struct standing {
    bool closed = false;
    bool reset = false;
    bool hands_over = false;  // there a plain handler cannot answer later
    bool timed = false;       // a peer may have been too slow
    bool finished = false;    // its FIN cancels handlers that wait
    bool faulty = false;      // something failed, or the server stopped: an error may stand for an answer, which may end anywhere
};

/// The answers in `bytes`, interim ones left out.
class answers {
public:
    answers(std::string_view bytes, const requests& to, const standing& at) {
        while (!bytes.empty()) {
            const http::method method = all.size() < to.all.size() ? to.all[all.size()].method : to.refused_method();
            if (!take(bytes, method, at)) return;
        }
    }

    std::vector<told> all;
    /// What came behind an answer 101.
    std::string raw;

private:
    // False: nothing can follow.
    bool take(std::string_view& bytes, http::method method, const standing& at) {
        http1::field_record records[64];
        http1::response_head head(records, 64);
        http1::response_resume resume;
        for (;;) {
            const auto context = http1::response_context(method).asks_upgrade(true);
            const http1::parse_status parsed = http1::parse_response(bytes, http1::head_limits(), context, head, resume);
            require(!parsed.is_failed(), "an answer can be read by a client", bytes);
            require(parsed.is_complete() || at.faulty, "the head of an answer goes out whole", bytes);
            if (!parsed.is_complete()) return false;
            bytes.remove_prefix(parsed.consumed());
            if (!head.is_interim()) break;
            if (bytes.empty()) return false;
        }
        told one{.status = head.status(),
                 .fields = {},
                 .content = {},
                 .keeps = head.keep_alive(),
                 .tunnel = head.is_tunnel(),
                 .until_close = head.framing().is_until_close()};
        for (const http1::field_view field : head) {
            if (field.name == "Date" || field.name == "Connection") continue;
            one.fields.append(field.name).append(": ").append(field.value).append("\n");
        }
        if (one.tunnel) {
            one.whole = true;
            raw = bytes;
            all.push_back(std::move(one));
            return false;
        }
        const http1::content_limits limits;
        http1::content_decoder decoder(head.framing(), limits);
        while (decoder.state() == http1::content_state::more && !bytes.empty()) {
            const http1::content_step step = decoder.feed(bytes);
            one.content += step.content;
            bytes.remove_prefix(step.consumed);
        }
        require(decoder.state() != http1::content_state::failed, "the content of an answer can be read by a client", bytes);
        one.whole = decoder.state() == http1::content_state::complete ||
                    (at.closed && one.until_close && decoder.end_of_input() == http1::content_state::complete);
        for (const http1::field_view field : decoder.trailers()) one.fields.append("+").append(field.name).append(": ").append(field.value);
        // A connection too many is refused before its request is read, so with content even when that is HEAD.
        const bool unread = at.faulty && one.status == 503 && !one.keeps;
        all.push_back(std::move(one));
        return all.back().whole && !unread;
    }
};

/// The content of an answer may end early only where its handler says so, or fails with the request's content.
inline void judge_content(const told& got, const asked& to, const standing& at) {
    const fuzzing::expected& wanted = to.expected;
    const bool of_head = to.method == http::method::head;
    if (at.finished && !wanted.is_collected() && !got.whole) return;
    if (wanted.is_short() && got.status == 200 && !of_head) {
        // Only a reset tells HTTP/1.0 of it, and then not even the content is sure to arrive.
        require(!got.whole, "an answer that is shorter than announced is not whole");
        return;
    }
    if (wanted.is_piped() && to.state != asked::part::whole && got.status == 200 && !of_head) {
        require(!got.whole || (got.until_close && at.reset) || to.state == asked::part::unfinished,
                "content that failed ends no answer as if it were whole");
        const std::string sent = wanted.in_group() ? doubling::of(to.content) : to.content;
        require(std::string_view(sent).starts_with(got.content), "what is piped is what was sent", got.content);
        return;
    }
    if (to.state != asked::part::whole || !wanted.content() || got.status != 200) return;
    if (of_head) {
        require(got.content.empty(), "an answer to HEAD has no content");
    } else if (got.whole) {
        require(got.content == *wanted.content(), "an answer is that of its request", got.content);
    }
}

/// The answer to a request that could be read.
inline void judge_answer(const told& got, const asked& to, const standing& at) {
    const fuzzing::expected& wanted = to.expected;
    if ((at.faulty || (at.finished && !wanted.is_collected())) && got.status >= 400) return;
    if (at.timed && got.status == 408) {
        require(!got.keeps, "nothing is kept behind a request that was too slow");
        return;
    }
    if (wanted.is_late() && at.hands_over && got.status == 500) {
        require(got.whole, "a handler that cannot answer later is answered for");
    } else if (to.state == asked::part::failed && wanted.reads() && !wanted.is_piped()) {
        require(got.status == to.failed_status, "content that failed is answered with why");
        require(!got.keeps, "nothing is kept behind a content that failed");
    } else if (got.status != 403 || !wanted.in_group()) {
        require(wanted.status() == 0 || got.status == wanted.status() || (to.state != asked::part::whole && got.status >= 400),
                "a request is answered as its route does",
                std::to_string(got.status) + "\n" + got.fields + got.content.substr(0, 200) + "\nnot " + std::to_string(wanted.status()));
    }
    require(!wanted.in_group() || got.fields.find("X-Point: seen\n") != std::string::npos, "on_head has seen each answer below its group",
            std::to_string(got.status) + "\n" + got.fields);
    judge_content(got, to, at);
}

/// What holds however the bytes came and whenever one looks.
inline void judge(const answers& got, const requests& to, const standing& at) {
    for (std::size_t i = 0; i < got.all.size(); ++i) {
        const told& one = got.all[i];
        const bool last = i + 1 == got.all.size();
        if (at.faulty && last && i >= to.all.size() && one.status >= 400 && !one.keeps) return;
        require(i < to.all.size() || (i == to.all.size() && (to.refused() != 0 || to.is_head_pending())),
                "there is no answer without a request");
        require(last || (one.whole && one.keeps), "nothing follows a last answer");
        require(!last || one.keeps || one.tunnel || at.closed || at.faulty || !one.whole, "an answer that says so ends the connection");
        if (i == to.all.size()) {
            require(one.status == (to.refused() != 0 ? to.refused() : 408), "a refusal says why");
            require((one.whole || at.faulty) && !one.keeps, "a refusal is the last answer");
            continue;
        }
        judge_answer(one, to.all[i], at);
    }
}

}  // namespace martlet::server::fuzzing
