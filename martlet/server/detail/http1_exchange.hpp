// The exchange of HTTP/1: a parsed head in front, an output queue behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <martlet/base/outq.hpp>
#include <martlet/server/exchange.hpp>
#include <martlet/server/fixed_points.hpp>
#include <martlet/wire/http1/encoder.hpp>
#include <martlet/wire/http1/head.hpp>

namespace martlet::inline v0::server::detail {

class http1_connection;
class http1_open_exchange;

/// One a loop, used again for each request of a plain handler: its head points into the read buffer.
class http1_exchange : public exchange {
public:
    http1_exchange(http1::field_record* records, std::uint16_t capacity) noexcept : head(records, capacity) {}
    ~http1_exchange() = default;

    /// From here on it answers for `of`, into `out`. `told`: the connection is told of each answer.
    void attach(http1_connection& of, outq& out, const http1::response_prefix& prefix, bool told) noexcept {
        connection_ = &of;
        out_ = &out;
        prefix_ = &prefix;
        told_ = told ? course_told : 0;
        left_alone_ = false;
    }
    /// What handlers reach on this loop.
    void reach(local_table& locals) noexcept { locals_ = &locals; }
    /// A head was parsed; `after` is what becomes of the connection.
    void begin(http1::persistence after) noexcept {
        status_ = 0;
        lost_answer_ = false;
        params_.clear();
        course_ = static_cast<std::uint32_t>(after) | told_ | (head.version_minor() == 0 ? course_old : 0);
        response_bytes_ = 0;
        content_ = {};
        points_ = nullptr;
        route_ = nullptr;
        method_ = head.method();
        path_ = head.path();
    }
    /// The same for an ordinary head, after which the connection goes on.
    void begin_ordinary() noexcept {
        status_ = 0;
        params_.clear();
        course_ = told_;
        method_ = head.method();
        path_ = head.ordinary_path();
    }

    std::string_view method_text() const noexcept override { return head.method_text(); }
    std::string_view target() const noexcept override { return head.target(); }
    std::string_view query() const noexcept override { return head.query(); }
    std::string_view host() const noexcept override { return head.host(); }
    std::optional<std::string_view> field(http::field_id id) const noexcept override { return head.field(id); }
    std::optional<std::string_view> field(std::string_view name) const noexcept override { return head.field(name); }
    std::size_t field_count() const noexcept override { return head.field_count(); }
    field_line field_at(std::size_t index) const noexcept override;
    net::stream_info info() const noexcept override;

    /// Where the router sent it, after begin().
    void found(const route* to, const fixed_points* points, time_point now) noexcept {
        route_ = to;
        points_ = points;
        began_ = now;
        if (points != nullptr && (points->has_on_head() || points->has_filter())) course_ |= course_around;
    }
    /// The same as another one.
    void found_as(const http1_exchange& other) noexcept { found(other.route_, other.points_, other.began_); }
    const fixed_points* points() const noexcept { return points_; }
    const route* found_route() const noexcept { return route_; }
    time_point began() const noexcept { return began_; }
    /// Tells the route's points that it is over.
    void tell_end(std::uint64_t bytes_in, time_point now, const std::optional<error>& why) noexcept;

    bool has_content() const noexcept override { return !head.framing().is_empty(); }
    std::optional<std::uint64_t> content_length() const noexcept override;
    // What an earlier request left there is not this one's.
    std::string_view content() const noexcept override { return has_content() ? content_ : std::string_view(); }
    std::optional<std::string_view> trailer(std::string_view name) const noexcept override;
    /// All of the content, for a plain handler.
    void give_content(std::string_view all) noexcept { content_ = all; }

    exchange_errc respond(const response_head& answer, std::string_view content) noexcept override;
    exchange_errc respond(const response_head& answer, slice content) noexcept override;
    exchange_errc respond(int status, http::media type, std::string_view content) noexcept override;
    context* work() noexcept override { return nullptr; }
    blocking_pool& pool() noexcept override;

    /// The handler's loop may be taken away meanwhile: nothing of the connection is to be touched, and nothing can be kept open.
    void leave_alone() noexcept { left_alone_ = true; }

    /// What the answer said, or will say, about the connection.
    http1::persistence after() const noexcept { return static_cast<http1::persistence>(course_ & course_after); }
    /// No answer keeps the connection open after this one.
    void close_after() noexcept { course_ = (course_ & ~course_after) | static_cast<std::uint32_t>(http1::persistence::close); }
    void end_connection() noexcept override {
        if (status_ == 0) close_after();
    }
    /// The handler has asked to answer later.
    bool is_kept() const noexcept final { return (course_ & course_kept) != 0; }
    /// The connection has lost its peer: an answer is an error from here on.
    void take_no_answer() noexcept { course_ |= course_gone; }
    /// The answer could not be queued whole: the connection must not go on.
    bool is_broken() const noexcept { return (course_ & course_broken) != 0; }
    /// Answered, and the connection goes on as if nothing had happened.
    bool went_as_usual() const noexcept { return course_ == course_answered; }

    /// For a watcher, of an exchange whose answer was given elsewhere.
    void was_answered(int status, std::uint64_t bytes) noexcept {
        status_ = static_cast<std::uint16_t>(status);
        response_bytes_ = bytes;
    }
    /// Of an answer that the connection was told of: head and content.
    std::uint64_t response_bytes() const noexcept { return response_bytes_; }

    http1::request_head head;

protected:
    friend class http1_open_exchange;
    exchange* keep_open() noexcept override;
    void let_go() noexcept override {}

    http1_connection* connection_ = nullptr;
    outq* out_ = nullptr;
    const http1::response_prefix* prefix_ = nullptr;
    // What is out of the ordinary, in one word, so that the ordinary is one comparison.
    static constexpr std::uint32_t course_after = 0xff;  // persistence; keep is 0
    static constexpr std::uint32_t course_kept = 0x100;
    static constexpr std::uint32_t course_broken = 0x200;
    static constexpr std::uint32_t course_told = 0x400;
    static constexpr std::uint32_t course_answered = 0x800;
    static constexpr std::uint32_t course_gone = 0x1000;
    static constexpr std::uint32_t course_old = 0x2000;     // HTTP/1.0
    static constexpr std::uint32_t course_around = 0x4000;  // something is to be asked before the head is encoded
    static constexpr std::uint32_t course_cut = 0x8000;     // the content ended early
    static_assert(static_cast<int>(http1::persistence::keep) == 0);
    std::uint32_t course_ = 0;
    std::uint32_t told_ = course_told;
    bool left_alone_ = false;
    std::uint64_t response_bytes_ = 0;
    std::string_view content_;
    const route* route_ = nullptr;
    const fixed_points* points_ = nullptr;
    time_point began_{};

    exchange_errc check(int status) const noexcept;
    void answered(int status, std::size_t out_before) noexcept;

    /// What `points_` make of an answer's head, on its way out.
    struct changed_head {
        changed_head(const response_head& from, field_block& fields) noexcept : head(from.status(), from.type(), fields) {}
        answer_head head;
        std::unique_ptr<body_filter> filter;
        response_head result() const noexcept { return {head.status(), head.type(), head.fields().view()}; }
    };
    /// False: the answer must not go out.
    bool ask_around(changed_head& of) noexcept;

private:
    exchange_errc respond_around(const response_head& answer, std::string_view content) noexcept;
    bool takes_short_way(std::string_view content) const noexcept;
    bool respond_shortly(char* at, int status, http::media type, std::string_view content) noexcept;
    exchange_errc respond_unusually(int status, http::media type, std::string_view content) noexcept;
    http1::body_framing framing(int status, std::size_t bytes) const noexcept;
};

}  // namespace martlet::inline v0::server::detail
