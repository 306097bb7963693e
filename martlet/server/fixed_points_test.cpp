#include <martlet/server/fixed_points.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <martlet/base/outq.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

/// Calls `with(req, res)` as a handler of a request for /x, and gives the answer.
template <class With>
test_answer in_a_request(With with) {
    router app;
    app.get("/x", [&with](request& req, response& res) {
        with(req, res);
        if (!res.is_answered() && !res.is_kept()) res.empty(204);
    });
    return test_client(app).get("/x");
}

TEST(fixed_points, before_runs_first_to_last_until_one_answers) {
    std::string order;
    fixed_points points;
    EXPECT_TRUE(points.empty());
    points.add(before_point([&order](request&, response&) { order += '1'; }));
    EXPECT_FALSE(points.empty());
    points.add(before_point([&order](request& req, response& res) {
        order += '2';
        if (req.path() == "/x") res.text(401, "no");
    }));
    points.add(before_point([&order](request&, response&) { order += '3'; }));
    const auto answer = in_a_request([&points](request& req, response& res) { EXPECT_TRUE(points.before(req, res)); });
    EXPECT_EQ(answer.status(), 401);
    EXPECT_EQ(order, "12");
}

TEST(fixed_points, before_that_answers_later_stops_too) {
    fixed_points points;
    std::unique_ptr<later_response> kept;
    points.add(before_point([](request&, response& res) {
        auto later = res.later();
        later.text(202, "later");
    }));
    points.add(before_point([](request&, response& res) { res.text(500, "not reached"); }));
    EXPECT_EQ(in_a_request([&points](request& req, response& res) { EXPECT_TRUE(points.before(req, res)); }).status(), 202);
}

TEST(fixed_points, before_may_throw) {
    fixed_points points;
    points.add(
        before_point([](request&, response&) { throw std::bad_expected_access<error>(error(cancel_category, 1, blame::peer, 403)); }));
    EXPECT_EQ(in_a_request([&points](request& req, response& res) { points.before(req, res); }).status(), 403);
}

TEST(fixed_points, on_head_runs_last_to_first_and_changes_status_and_fields) {
    fixed_points points;
    points.add(head_point([](request&, answer_head& head) {
        EXPECT_EQ(head.status(), 202) << "the last one changed it";
        EXPECT_EQ(head.field("X-Kept"), "b");
        EXPECT_EQ(head.remove("x-gone"), 2u);
        EXPECT_TRUE(head.replace("x-kept", "c").has_value());
    }));
    points.add(head_point([](request&, answer_head& head) {
        EXPECT_EQ(head.status(), 200);
        EXPECT_EQ(head.type().id(), http::media::text);
        EXPECT_TRUE(head.status(202).has_value());
        EXPECT_FALSE(head.status(101).has_value());
        EXPECT_FALSE(head.status(600).has_value());
        EXPECT_TRUE(head.add("X-Added", "1").has_value());
        EXPECT_TRUE(head.add("X-Added", "2").has_value());
        for (const char* own : {"Content-Length", "connection", "Date", "Server", "Content-Type", "Transfer-Encoding"}) {
            EXPECT_FALSE(head.add(own, "1").has_value()) << own;
            EXPECT_FALSE(head.replace(own, "1").has_value()) << own;
        }
        EXPECT_FALSE(head.add("X", "a\r\nY: b").has_value());
        EXPECT_FALSE(head.add("X Y", "a").has_value());
    }));
    in_a_request([&points](request& req, response&) {
        field_block fields;
        for (const auto& [name, value] :
             {std::pair("X-Gone", "1"), std::pair("X-Kept", "b"), std::pair("X-GONE", "2"), std::pair("X-Kept", "x")})
            ASSERT_TRUE(fields.add(name, *http::field_value::make(value)));
        answer_head head(200, http::media::text, fields);
        EXPECT_TRUE(points.on_head(req, head));
        EXPECT_EQ(head.status(), 202);
        EXPECT_EQ(fields.view(), "X-Added: 1\r\nX-Added: 2\r\nx-kept: c\r\n");
    });
}

TEST(fixed_points, an_on_head_that_throws_is_told_and_logged) {
    testing::kept_log log;
    fixed_points points;
    std::string order;
    points.add(head_point([&order](request&, answer_head&) { order += '1'; }));
    points.add(head_point([](request&, answer_head&) { throw std::runtime_error("broken"); }));
    in_a_request([&points](request& req, response&) {
        field_block fields;
        answer_head head(200, http::media::text, fields);
        EXPECT_FALSE(points.on_head(req, head));
    });
    EXPECT_EQ(order, "1");
    EXPECT_EQ(log.count("broken"), 1u) << log.text();
}

TEST(fixed_points, on_end_is_told_what_is_known) {
    testing::kept_log log;
    fixed_points points;
    std::string told;
    points.add(end_point([&told](request& req, const exchange_end& end) {
        told += std::string(req.path()) + " " + std::to_string(end.status()) + " " + std::to_string(end.bytes_in()) + " " +
                std::to_string(end.bytes_out()) + " " + std::to_string(end.lasting().count()) + (end.reason() ? " why" : "");
    }));
    points.add(end_point([](request&, const exchange_end&) { throw 1; }));
    points.add(end_point([&told](request&, const exchange_end& end) { told += end.how() == outcome::cut_off ? "cut off " : "whole "; }));
    in_a_request([&points](request& req, response&) {
        const time_point began = time_point() + duration(5);
        points.on_end(req, exchange_end(outcome::answered, 200).bytes(3, 4).times(began, began + duration(7)));
        points.on_end(req, exchange_end(outcome::cut_off, 200).reason(cancel_reason::peer_gone));
    });
    EXPECT_EQ(told, "whole /x 200 3 4 7cut off /x 200 0 0 0 why");
    EXPECT_EQ(log.count("an on_end threw"), 2u) << log.text();
}

/// Puts a letter in front of each piece.
class marker final : public body_filter {
public:
    explicit marker(std::string mark) : mark_(std::move(mark)) {}
    result<void> put(std::string_view content, outq& out) override {
        if (!out.append_copy(mark_ + std::string(content))) return failure(error::system(12));
        return {};
    }
    result<void> end(outq& out) override { return put(".", out); }

private:
    std::string mark_;
};

TEST(fixed_points, the_innermost_filter_is_the_one) {
    fixed_points outer;
    EXPECT_FALSE(outer.has_filter());
    outer.add(filter_point([](request&, answer_head&) -> std::unique_ptr<body_filter> { return std::make_unique<marker>("o"); }));
    fixed_points inner;
    inner.append(outer);
    EXPECT_TRUE(inner.has_filter());
    fixed_points own;
    own.add(filter_point([](request&, answer_head& head) -> std::unique_ptr<body_filter> {
        if (head.status() == 204) return nullptr;
        return std::make_unique<marker>("i");
    }));
    inner.append(own);
    in_a_request([&](request& req, response&) {
        field_block fields;
        answer_head head(200, http::media::text, fields);
        loop on;
        outq out(on.blocks());
        auto filter = inner.filter(req, head);
        ASSERT_NE(filter, nullptr);
        EXPECT_TRUE(filter->put("a", out).has_value());
        EXPECT_TRUE(filter->end(out).has_value());
        EXPECT_EQ(out.size(), 4u);
        EXPECT_TRUE(head.status(204).has_value());
        EXPECT_EQ(inner.filter(req, head), nullptr);
        EXPECT_NE(outer.filter(req, head), nullptr);
        EXPECT_EQ(fixed_points().filter(req, head), nullptr);
    });
}

TEST(fixed_points, share_their_callables_with_copies) {
    const auto counted = std::make_shared<int>(0);
    {
        fixed_points one;
        one.add(before_point([counted](request&, response&) {}));
        fixed_points other;
        other.append(one);
        other.append(one);
        EXPECT_EQ(counted.use_count(), 2);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace martlet::server
