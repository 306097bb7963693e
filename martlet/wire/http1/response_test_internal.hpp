// What the tests and the fuzzer of responses share: everything that answers one request, in any delivery, told as text.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <martlet/wire/http1/content.hpp>
#include <martlet/wire/http1/response_parser.hpp>

namespace martlet::inline v0::http1::testing {

/// A client that has sent one request and receives what answers it. Each look is at a block of exactly the bytes that came.
class response_reader {
public:
    response_reader(response_context context, const head_limits& limits, std::uint64_t content_bytes_max)
        : context_(context), limits_(limits), content_bytes_max_(content_bytes_max) {}

    void give(std::string_view bytes) {
        if (content_) return feed(bytes);
        unread_ += bytes;
        while (!done_ && !content_) {
            const std::unique_ptr<char[]> block(new char[unread_.size()]);
            unread_.copy(block.get(), unread_.size());
            const parse_status status = parse_response({block.get(), unread_.size()}, limits_, context_, head_, resume_);
            if (status.needs_more()) return;
            if (status.is_failed()) return finish("error " + std::to_string(static_cast<unsigned>(status.code())));
            if (status.consumed() > unread_.size()) return finish("took bytes that had not come");
            consumed_ += status.consumed();
            const std::string rest = unread_.substr(status.consumed());
            if (head_.is_interim()) {
                unread_ = rest;
                continue;
            }
            keep_alive_ = head_.keep_alive();
            told_ = std::to_string(head_.status()) + "[" + std::string(head_.reason()) + "]";
            for (const field_view field : head_) told_ += " " + std::string(field.name) + "=" + std::string(field.value);
            if (head_.is_tunnel()) return finish("ok " + std::to_string(head_.status()) + " [] tunnel");
            content_ = std::make_unique<content_decoder>(head_.framing(), content_limits_, content_bytes_max_);
            unread_.clear();
            status_ = head_.status();
            return feed(rest);
        }
    }

    void end() {
        if (done_) return;
        if (!content_ || content_->end_of_input() == content_state::failed) return finish("error early end");
        look(content_->state());
    }

    bool is_done() const { return done_; }
    /// "more", "error CODE", or "ok STATUS [CONTENT] reuse|noreuse|tunnel".
    const std::string& verdict() const { return verdict_; }
    /// Status, reason and fields of the final head, and the trailers.
    const std::string& told() const { return told_; }
    std::size_t consumed() const { return consumed_; }

private:
    // The block ends where the bytes do, so that a look beyond them shows; it is made once, since a content may have many pieces.
    void feed(std::string_view bytes) {
        const std::unique_ptr<char[]> block(new char[bytes.size()]);
        bytes.copy(block.get(), bytes.size());
        std::string_view left(block.get(), bytes.size());
        content_step step{0, {}, content_->state()};
        do {
            step = content_->feed(left);
            text_ += step.content;
            consumed_ += step.consumed;
            left.remove_prefix(std::min(step.consumed, left.size()));
        } while (step.state == content_state::more && !left.empty());
        look(step.state);
    }
    void look(content_state state) {
        if (state == content_state::failed) return finish("error " + std::to_string(static_cast<unsigned>(content_->code())));
        if (state == content_state::more) return;
        for (const field_view field : content_->trailers()) told_ += " +" + std::string(field.name) + "=" + std::string(field.value);
        finish("ok " + std::to_string(status_) + " [" + text_ + "] " + (keep_alive_ ? "reuse" : "noreuse"));
    }
    void finish(const std::string& verdict) {
        verdict_ = verdict;
        done_ = true;
    }

    response_context context_;
    head_limits limits_;
    content_limits content_limits_;
    std::uint64_t content_bytes_max_;
    field_record records_[120];
    response_head head_{records_, 120};
    response_resume resume_;
    std::unique_ptr<content_decoder> content_;
    std::string unread_;
    std::string text_;
    std::string told_;
    std::string verdict_ = "more";
    std::size_t consumed_ = 0;
    int status_ = 0;
    bool keep_alive_ = false;
    bool done_ = false;
};

/// What becomes of `bytes`: the verdict and, `with_fields`, a second line with how many were consumed and what was told. Given `first`,
/// then `step` at a time; `ends`: the connection ends behind them.
inline std::string response_verdict(std::string_view bytes, std::size_t first, std::size_t step, response_context context, bool ends,
                                    const head_limits& limits = head_limits(), std::uint64_t content_bytes_max = 1 << 20,
                                    bool with_fields = false) {
    response_reader reader(context, limits, content_bytes_max);
    std::size_t next = first;
    for (std::size_t at = 0; at < bytes.size() && !reader.is_done();) {
        const std::string_view piece = bytes.substr(at, next);
        reader.give(piece);
        at += piece.size();
        next = step;
    }
    if (ends) reader.end();
    if (!with_fields) return reader.verdict();
    return reader.verdict() + "\n" + std::to_string(reader.consumed()) + " " + reader.told();
}

}  // namespace martlet::inline v0::http1::testing
