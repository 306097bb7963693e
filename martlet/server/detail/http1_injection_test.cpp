// Whatever text an application gives to any part of an answer, and whatever number as its status, the peer reads one answer with the fields
// that were meant, and nothing behind it.
#include <climits>
#include <stdexcept>
#include <string>
#include <vector>

#include <martlet/server/detail/testing_internal.hpp>
#include <martlet/wire/http1/response_test_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::string_view_literals;
using net::unruly_options;
using testing::bench;
using testing::client;
using testing::request_text;

constexpr std::string_view injected = "X-Injected";

/// A way for text of the application into an answer. Without an answer of its own, one is given for it.
struct way {
    std::string_view name;
    task<> (*take)(response& res, const std::string& text);
};

const way ways[] = {
    {"a field's name",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set(text, "x"));
         co_return;
     }},
    {"a field's value",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set("X-Own", text));
         co_return;
     }},
    {"the value of a known field",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set(http::field_id::cache_control, text));
         co_return;
     }},
    {"a cookie's name",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set_cookie(http::set_cookie(text, "x")));
         co_return;
     }},
    {"a cookie's value",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set_cookie(http::set_cookie("x", text)));
         co_return;
     }},
    {"a cookie's path",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set_cookie(http::set_cookie("x", "y").path(text)));
         static_cast<void>(res.set_cookie(http::set_cookie("x", "y").path("/" + text)));
         co_return;
     }},
    {"a cookie's domain",
     [](response& res, const std::string& text) -> task<> {
         static_cast<void>(res.set_cookie(http::set_cookie("x", "y").domain(text)));
         co_return;
     }},
    {"where a redirect goes",
     [](response& res, const std::string& text) -> task<> {
         res.redirect(303, text);
         co_return;
     }},
    {"a content type",
     [](response& res, const std::string& text) -> task<> {
         const auto type = http::field_value::make(text);
         if (type) res.bytes(200, http::content_type(*type), "x");
         co_return;
     }},
    {"why a request fails",
     [](response& res, const std::string& text) -> task<> {
         res.fail(400, text);
         co_return;
     }},
    {"a problem",
     [](response& res, const std::string& text) -> task<> {
         res.problem(400, text);
         co_return;
     }},
    {"a trailer's name",
     [](response& res, const std::string& text) -> task<> {
         auto body = res.stream(200, http::media::text);
         static_cast<void>(body.trailer(text, "x"));
         auto sent = co_await body.send("streamed");
         EXPECT_TRUE(sent.has_value());
     }},
    {"a trailer's value",
     [](response& res, const std::string& text) -> task<> {
         auto body = res.stream(200, http::media::text);
         static_cast<void>(body.trailer("X-Own", text));
         auto sent = co_await body.send("streamed");
         EXPECT_TRUE(sent.has_value());
     }},
    {"a streamed piece",
     [](response& res, const std::string& text) -> task<> {
         auto body = res.stream(200, http::media::text);
         auto sent = co_await body.send(text);
         EXPECT_TRUE(sent.has_value());
     }},
    {"an event",
     [](response& res, const std::string& text) -> task<> {
         auto feed = res.sse();
         auto named = co_await feed.send(text, "x");
         auto marked = co_await feed.send("x", "x", text);
         auto plain = co_await feed.send(text);
         auto comment = co_await feed.comment(text);
         static_cast<void>(named);
         static_cast<void>(marked);
         EXPECT_TRUE(plain.has_value() && comment.has_value());
     }},
    {"another protocol",
     [](response& res, const std::string& text) -> task<> {
         auto up = co_await res.upgrade(text);
         EXPECT_FALSE(up.has_value());
     }},
    {"what is thrown",
     [](response&, const std::string& text) -> task<> {
         throw std::runtime_error(text);
         co_return;
     }},
};

/// What would end a line or a text, alone and with what follows, at each place of a harmless one.
std::vector<std::string> harmful_texts() {
    std::vector<std::string> all;
    const std::string field = "\r\n" + std::string(injected) + ": yes";
    for (const std::string& bad : {std::string("\r"), std::string("\n"), std::string("\0", 1), std::string("\r\n"), "\n" + field.substr(2),
                                   "\r" + field.substr(2), field, field + "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"}) {
        all.push_back(bad + "ab");
        all.push_back("a" + bad + "b");
        all.push_back("ab" + bad);
    }
    return all;
}

/// One answer, read as a client reads it: all of the bytes, with its fields and trailers.
void expect_one_answer(std::string_view name, const std::string& bytes) {
    http1::testing::response_reader reader(http1::response_context(http::method::get), http1::head_limits(), 1 << 20);
    reader.give(bytes);
    EXPECT_TRUE(reader.verdict().starts_with("ok ")) << name << ": " << reader.verdict() << "\n" << bytes;
    EXPECT_EQ(reader.consumed(), bytes.size()) << name << "\n" << bytes;
    EXPECT_EQ(reader.told().find(" " + std::string(injected) + "="), bytes.npos) << name << "\n" << bytes;
    EXPECT_EQ(reader.told().find("+" + std::string(injected) + "="), bytes.npos) << name << "\n" << bytes;
    EXPECT_EQ(bytes.substr(0, bytes.find("\r\n\r\n")).find('\0'), bytes.npos) << name;
}

/// A server whose one handler gives `text` to one of the ways.
class mouthpiece : public bench {
public:
    mouthpiece() {
        watched = false;
        app.on_head([this](request&, answer_head& head) {
            if (current != nullptr) return;
            static_cast<void>(head.add(text, "x"));
            static_cast<void>(head.add("X-Own", text));
            static_cast<void>(head.replace("X-Other", text));
            static_cast<void>(head.replace(text, "x"));
        });
        app.get("/", [this](request&, response& res) -> task<> {
            if (current != nullptr) {
                auto taken = current->take(res, text);
                co_await std::move(taken);
            }
            if (!res.is_answered()) res.text(200, "whole");
        });
    }

    std::string asked() {
        client peer(*this, unruly_options::tame());
        return peer.ask(request_text("GET", "/", "Connection: upgrade\r\nUpgrade: foo\r\n"));
    }

    const way* current = nullptr;
    std::string text;
};

TEST(http1_injection, no_text_breaks_out_of_its_place) {
    const testing::kept_log quiet;
    mouthpiece server;
    for (const std::string& text : harmful_texts()) {
        server.text = text;
        for (const way& each : ways) {
            server.current = &each;
            expect_one_answer(each.name, server.asked());
        }
        server.current = nullptr;
        expect_one_answer("what runs before the head is encoded", server.asked());
    }
}

TEST(http1_injection, no_number_breaks_the_status_line) {
    const testing::kept_log quiet;
    for (const int status : {INT_MIN, -200, -1, 0, 1, 99, 100, 101, 199, 600, 700, 999, 1000, 2000, 65536 + 200, INT_MAX}) {
        using giver = void (*)(response&, int);
        const giver givers[] = {
            [](response& res, int number) { res.text(number, "x"); },
            [](response& res, int number) { res.empty(number); },
            [](response& res, int number) { res.bytes(number, http::content_type(http::field_value::literal("a/b")), "x"); },
            [](response& res, int number) { res.fail(number, "x"); },
            [](response& res, int number) { res.problem(number, "x"); },
            [](response& res, int number) { res.redirect(number, "/x"); },
            [](response& res, int number) {
                static_cast<void>(res.set("X-Own", "x"));
                res.text(number, "x");
            },
            [](response& res, int number) {
                auto body = res.stream(number, http::media::text);
                static_cast<void>(body);
            },
        };
        for (const giver& give : givers) {
            bench server;
            server.watched = false;
            server.app.get("/", [&](request&, response& res) -> task<> {
                give(res, status);
                co_return;
            });
            client peer(server, unruly_options::tame());
            const std::string answer = peer.ask(request_text("GET", "/"));
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 Internal Server Error\r\n")) << status << "\n" << answer;
            expect_one_answer("a status", answer);
        }
    }
}

}  // namespace
}  // namespace martlet::server
