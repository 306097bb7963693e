#include "checker.hpp"

#include <cstring>

namespace load {

using namespace martlet;
using http1::content_state;

namespace {

// Generous, because it is the server that is tried: what is longer than this is no answer worth waiting for.
constexpr http1::head_limits head_limit = http1::head_limits().head_bytes_max(65535).field_bytes_max(65535).fields_max(1000);
constexpr http1::content_limits content_limit;
constexpr std::size_t fields_max = 1000;

bool begins_with(std::string_view bytes, const std::string& head) noexcept {
    return !head.empty() && bytes.size() >= head.size() && std::memcmp(bytes.data(), head.data(), head.size()) == 0;
}

}  // namespace

answer_step answer_checker::feed(std::string_view bytes, answer_model& model) {
    if (content_) [[unlikely]]
        return content(bytes, model);
    std::size_t head_bytes = 0;
    if (begins_with(bytes, model.head_)) [[likely]] {
        head_bytes = model.head_.size();
        facts_ = model.facts_;
    } else {
        const answer_step parsed = head(bytes, model);
        if (parsed.now != answer_step::state::whole) return parsed;
        head_bytes = parsed.consumed;
    }
    bytes.remove_prefix(head_bytes);
    const http1::body_framing framing = facts_.framing;
    // A content that is there whole needs no decoder.
    if ((framing.is_length() || framing.is_none()) && bytes.size() >= framing.bytes()) [[likely]] {
        content_bytes_ = framing.bytes();
        return finish(model, head_bytes + framing.bytes(), bytes.substr(0, framing.bytes()), true);
    }
    content_.emplace(framing, content_limit);
    content_bytes_ = 0;
    if (model.expected_->hash) hash_ = sha256();
    answer_step rest = content(bytes, model);
    rest.consumed += head_bytes;
    return rest;
}

// Interim heads are dropped. `whole` means here: the final head is there, and `consumed` is behind it.
answer_step answer_checker::head(std::string_view bytes, answer_model& model) {
    http1::field_record records[fields_max];
    http1::response_head parsed(records, fields_max);
    answer_step step;
    for (;;) {
        const std::string_view rest = bytes.substr(step.consumed);
        const auto status = http1::parse_response(rest, head_limit, http1::response_context(model.method_), parsed, resume_);
        if (status.needs_more()) return step;
        if (status.is_failed() || (parsed.is_tunnel() && !parsed.is_interim())) {
            step.now = answer_step::state::broken;
            step.wrong = fault::bad_head;
            return step;
        }
        step.consumed += status.consumed();
        if (!parsed.is_interim()) break;
    }
    facts_ = {parsed.framing(), parsed.status(), parsed.keep_alive() && !model.closes_};
    model.head_.assign(parsed.bytes());
    model.facts_ = facts_;
    step.now = answer_step::state::whole;
    return step;
}

answer_step answer_checker::content(std::string_view bytes, answer_model& model) {
    answer_step step;
    for (;;) {
        const auto fed = content_->feed(bytes.substr(step.consumed));
        step.consumed += fed.consumed;
        content_bytes_ += fed.content.size();
        if (model.expected_->hash) hash_.add(fed.content);
        if (fed.state == content_state::failed) {
            step.now = answer_step::state::broken;
            step.wrong = fault::bad_content;
            return step;
        }
        if (fed.state == content_state::complete) return finish(model, step.consumed, {}, false);
        if (step.consumed == bytes.size()) return step;
    }
}

bool answer_checker::end_of_input(answer_model& model, answer_step& step) {
    if (!content_ || content_->end_of_input() != content_state::complete) return false;
    step = finish(model, 0, {}, false);
    return true;
}

answer_step answer_checker::finish(answer_model& model, std::size_t consumed, std::string_view whole_content, bool has_whole) {
    answer_step step;
    step.now = answer_step::state::whole;
    step.consumed = consumed;
    step.keep_alive = facts_.keep_alive;
    step.status = static_cast<std::uint16_t>(facts_.status);
    step.wrong = judge(model, whole_content, has_whole);
    if (content_ || !resume_.is_fresh()) reset();
    return step;
}

std::optional<fault> answer_checker::judge(answer_model& model, std::string_view whole_content, bool has_whole) {
    const expectation& expected = *model.expected_;
    if (!expected.status.test(static_cast<std::size_t>(facts_.status))) [[unlikely]]
        return fault::wrong_status;
    if (expected.content_bytes && *expected.content_bytes != content_bytes_) [[unlikely]]
        return fault::wrong_length;
    if (!expected.hash) [[likely]]
        return std::nullopt;
    if (!has_whole) return hash_.finish() == *expected.hash ? std::nullopt : std::optional(fault::wrong_hash);
    if (!whole_content.empty() && whole_content == model.content_) return std::nullopt;
    if (sha256::of(whole_content) != *expected.hash) return fault::wrong_hash;
    if (whole_content.size() <= answer_model::content_bytes_kept_max) model.content_.assign(whole_content);
    return std::nullopt;
}

void answer_checker::reset() noexcept {
    content_.reset();
    resume_ = http1::response_resume();
}

}  // namespace load
