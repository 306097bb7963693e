#include <martlet/server/response.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/server/test_client.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using testing::kept_log;
using testing::letters;

/// What `h` answers.
test_answer answer_of(handler h, http::method method = http::method::get) {
    router app;
    app.add(method == http::method::head ? http::method::get : method, "/", std::move(h));
    test_client client(app);
    return client.ask(test_request(method, "/"));
}

TEST(response, has_a_call_for_each_usual_kind) {
    const auto text = answer_of([](request&, response& res) { res.text(200, "text"); });
    EXPECT_EQ(text.status(), 200);
    EXPECT_EQ(text.content(), "text");
    EXPECT_EQ(text.content_type(), "text/plain; charset=utf-8");
    const auto html = answer_of([](request&, response& res) { res.html(201, "<p>"); });
    EXPECT_EQ(html.status(), 201);
    EXPECT_EQ(html.content_type(), "text/html; charset=utf-8");
    const auto json = answer_of([](request&, response& res) { res.json(500, "{}"); });
    EXPECT_EQ(json.content_type(), "application/json");
    const auto bytes =
        answer_of([](request&, response& res) { res.bytes(200, http::content_type(http::media::png), std::string_view("\0\1", 2)); });
    EXPECT_EQ(bytes.content(), std::string("\0\1", 2));
    EXPECT_EQ(bytes.content_type(), "image/png");
    const auto own = answer_of(
        [](request&, response& res) { res.bytes(200, http::content_type(http::field_value::literal("application/x-own")), "own"); });
    EXPECT_EQ(own.content_type(), "application/x-own");
    const auto empty = answer_of([](request&, response& res) { res.empty(204); });
    EXPECT_EQ(empty.status(), 204);
    EXPECT_EQ(empty.content(), "");
    EXPECT_EQ(empty.content_type(), "");
    const auto long_one = answer_of([](request&, response& res) { res.text(200, letters(100'000)); });
    EXPECT_EQ(long_one.content(), letters(100'000));
}

TEST(response, fields_are_set_by_id_or_name_and_kept_in_order) {
    const auto answer = answer_of([](request&, response& res) {
        EXPECT_TRUE(res.set(http::field_id::cache_control, "no-store").has_value());
        EXPECT_TRUE(res.set("X-Own", "value").has_value());
        EXPECT_TRUE(res.set("Set-Cookie", "a=1").has_value());
        EXPECT_TRUE(res.set("Set-Cookie", "b=2").has_value());
        EXPECT_TRUE(res.set("X-Empty", "").has_value());
        EXPECT_TRUE(res.set("X-Opaque", "caf\xc3\xa9\ttab").has_value());
        res.text(200, "x");
    });
    EXPECT_EQ(answer.field("cache-control"), "no-store");
    EXPECT_EQ(answer.field("x-own"), "value");
    EXPECT_EQ(answer.field("Set-Cookie"), "a=1");
    EXPECT_EQ(answer.field("X-Empty"), "");
    EXPECT_EQ(answer.field("X-Opaque"), "caf\xc3\xa9\ttab");
    EXPECT_EQ(answer.field("X-Other"), std::nullopt);
}

TEST(response, a_value_that_would_break_the_head_is_refused_and_nothing_is_added) {
    const std::string_view values[] = {
        "a\r\nX-Injected: yes",
        "a\nb",
        "a\rb",
        std::string_view("a\0b", 3),
        "\r\n",
        " leading",
        "trailing ",
        "\tx",
        "a\x01",
        "a\x7f",
        "a\x1f",
    };
    const auto answer = answer_of([&](request&, response& res) {
        for (const std::string_view value : values) {
            const auto set = res.set("X-Own", value);
            ASSERT_FALSE(set.has_value()) << value;
            EXPECT_EQ(set.error().who(), blame::local);
            EXPECT_FALSE(res.set(http::field_id::location, value).has_value());
        }
        res.text(200, "x");
    });
    EXPECT_EQ(answer.field("X-Own"), std::nullopt);
    EXPECT_EQ(answer.field("X-Injected"), std::nullopt);
    EXPECT_EQ(answer.field("Location"), std::nullopt);
}

TEST(response, a_name_that_is_no_token_is_refused) {
    const auto answer = answer_of([](request&, response& res) {
        for (const std::string_view name : {"", "X Own", "X:", "X\r\n", "\xc3\xa9", "(x)", "X-Own "})
            EXPECT_FALSE(res.set(name, "x").has_value()) << name;
        EXPECT_FALSE(res.set(http::field_id::other, "x").has_value());
        res.text(200, "x");
    });
    EXPECT_EQ(answer.status(), 200);
}

TEST(response, what_the_server_decides_on_cannot_be_set) {
    const auto answer = answer_of([](request&, response& res) {
        for (const std::string_view name : {"Content-Length", "content-length", "TRANSFER-ENCODING", "Connection", "Keep-Alive", "Upgrade",
                                            "Content-Type", "Date", "Server"}) {
            EXPECT_FALSE(res.set(name, "x").has_value()) << name;
        }
        EXPECT_FALSE(res.set(http::field_id::content_length, "5").has_value());
        EXPECT_FALSE(res.set(http::field_id::transfer_encoding, "chunked").has_value());
        res.text(200, "x");
    });
    EXPECT_EQ(answer.field("Content-Length"), std::nullopt);
    EXPECT_EQ(answer.field("Connection"), std::nullopt);
}

TEST(response, more_fields_than_fit_are_refused_and_the_rest_is_sent) {
    const auto answer = answer_of([](request&, response& res) {
        EXPECT_TRUE(res.set("X-First", "1").has_value());
        EXPECT_TRUE(res.set("X-Large", std::string(30'000, 'x')).has_value());
        const auto refused = res.set("X-Too-Much", std::string(3'000, 'y'));
        EXPECT_FALSE(refused.has_value());
        EXPECT_TRUE(res.set("X-Last", "2").has_value());
        res.text(200, "x");
    });
    EXPECT_EQ(answer.field("X-First"), "1");
    EXPECT_EQ(answer.field("X-Large")->size(), 30'000u);
    EXPECT_EQ(answer.field("X-Too-Much"), std::nullopt);
    EXPECT_EQ(answer.field("X-Last"), "2");
}

TEST(response, the_first_answer_stands) {
    kept_log log;
    const auto answer = answer_of([](request&, response& res) {
        EXPECT_FALSE(res.is_answered());
        res.text(200, "first");
        EXPECT_TRUE(res.is_answered());
        res.json(500, "second");
        const auto third = res.try_respond(200, http::media::text, "third");
        ASSERT_FALSE(third.has_value());
        EXPECT_EQ(third.error().who(), blame::local);
        EXPECT_EQ(third.error(), make_error(exchange_errc::answered_already));
    });
    EXPECT_EQ(answer.status(), 200);
    EXPECT_EQ(answer.content(), "first");
    EXPECT_EQ(log.count("answered already"), 1u) << "what is tried is the caller's to log";
    EXPECT_EQ(log.count("path=/"), 1u) << log.text();
}

TEST(response, a_status_that_ends_no_request_is_refused) {
    kept_log log;
    const auto answer = answer_of([](request&, response& res) {
        for (const int status : {-1, 0, 99, 100, 101, 199, 600, 1000, 65736}) {
            const auto sent = res.try_respond(status, http::media::text, "x");
            EXPECT_FALSE(sent.has_value()) << status;
        }
        res.text(100, "logged");
        EXPECT_FALSE(res.is_answered());
        res.text(299, "in the end");
    });
    EXPECT_EQ(answer.status(), 299);
    EXPECT_EQ(log.count("200 to 599"), 1u) << log.text();
}

TEST(response, content_is_left_out_where_there_can_be_none) {
    const auto head = answer_of([](request&, response& res) { res.text(200, "content"); }, http::method::head);
    EXPECT_EQ(head.status(), 200);
    EXPECT_EQ(head.content(), "");
    for (const int status : {204, 304}) {
        const auto answer = answer_of([status](request&, response& res) { res.text(status, "content"); });
        EXPECT_EQ(answer.status(), status);
        EXPECT_EQ(answer.content(), "");
    }
}

TEST(response, a_slice_is_sent_as_it_is) {
    const auto answer = answer_of([](request&, response& res) {
        const auto sent = res.try_respond(200, http::media::bytes, slice::own(std::string("owned")));
        EXPECT_TRUE(sent.has_value());
    });
    EXPECT_EQ(answer.content(), "owned");
    EXPECT_EQ(answer.content_type(), "application/octet-stream");
}

TEST(later_response, one_moved_from_is_good_for_nothing_and_harmless) {
    std::vector<later_response> kept;
    router app;
    app.get("/", [&](request&, response& res) {
        later_response first = res.later();
        later_response second(std::move(first));
        EXPECT_TRUE(first.is_cancelled());
        EXPECT_FALSE(first.is_answered());
        EXPECT_EQ(first.work(), nullptr);
        first.text(200, "from nowhere");
        const auto sent = first.try_respond(200, http::media::text, "from nowhere");
        EXPECT_FALSE(sent.has_value());
        EXPECT_TRUE(second.set("X-Moved", "yes").has_value());
        later_response third(std::move(second));
        third.text(200, "moved");
    });
    test_client client(app);
    const auto answer = client.get("/");
    EXPECT_EQ(answer.content(), "moved");
    EXPECT_EQ(answer.field("X-Moved"), "yes");
}

}  // namespace
}  // namespace martlet::server
