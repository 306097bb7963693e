// checker: reads the answers of one connection and judges each whole: head, framing, status, length, hash.
//
//   head --(complete, content follows)--> content --(complete)--> head
//   head --(complete, all there)--> head
//   any  --(fault of framing)--> broken
//
// A head that is byte for byte the last one that was parsed means the same, so it is compared first; any other is parsed in full.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/wire/http1/content.hpp>
#include <martlet/wire/http1/response_parser.hpp>

#include "fault.hpp"
#include "plan.hpp"

namespace load {

/// What is known of a target's answers; one for each target and thread.
class answer_model {
public:
    /// Contents up to this size are kept, so that an equal one need not be hashed again.
    static constexpr std::size_t content_bytes_kept_max = 64 * 1024;

    /// `closes`: the connection is of no more use behind an answer, whatever that says.
    answer_model(martlet::http::method method, const expectation& expected, bool closes = false) noexcept
        : method_(method), closes_(closes), expected_(&expected) {}

private:
    friend class answer_checker;

    struct facts {
        martlet::http1::body_framing framing;
        int status = 0;
        bool keep_alive = false;
    };

    martlet::http::method method_;
    bool closes_;
    const expectation* expected_;
    std::string head_;  // the last one parsed, whole
    facts facts_;
    std::string content_;  // of the expected hash; empty until one was seen
};

/// What became of bytes that a checker was fed.
struct answer_step {
    enum class state : std::uint8_t {
        more,    ///< the answer goes on
        whole,   ///< the answer ended; `wrong` says whether it was the right one
        broken,  ///< what comes is no answer that can be understood; the connection is of no more use
    };
    state now = state::more;
    bool keep_alive = true;      ///< of a whole one: the connection may be used again
    std::uint16_t status = 0;    ///< of a whole one
    std::size_t consumed = 0;    ///< bytes that are not wanted again
    std::optional<fault> wrong;  ///< of a whole or broken one
};

class answer_checker {
public:
    answer_checker() noexcept = default;

    /// Reads on in the answer to one request for the target of `model`, up to its end. What is not consumed is given again, in front of
    /// what follows it. Between the first byte of an answer and its end the model is the same.
    answer_step feed(std::string_view bytes, answer_model& model);
    /// The peer sends no more. True, with `step` as for a whole answer, when that is how this one ends.
    bool end_of_input(answer_model& model, answer_step& step);
    /// For a new connection.
    void reset() noexcept;

private:
    answer_step head(std::string_view bytes, answer_model& model);
    answer_step content(std::string_view bytes, answer_model& model);
    answer_step finish(answer_model& model, std::size_t consumed, std::string_view whole_content, bool has_whole);
    std::optional<fault> judge(answer_model& model, std::string_view whole_content, bool has_whole);

    answer_model::facts facts_;
    martlet::http1::response_resume resume_;
    std::optional<martlet::http1::content_decoder> content_;
    sha256 hash_;
    std::uint64_t content_bytes_ = 0;
};

}  // namespace load
