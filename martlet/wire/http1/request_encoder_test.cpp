// What a client writes: the text, what it refuses to write, and that the request parser reads it back.
#include <martlet/wire/http1/request_encoder.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/http1/parser_test_internal.hpp>

namespace martlet::http1 {
namespace {

using http::field_value;
using http::token;
using namespace std::string_view_literals;

std::string encoded(std::string_view method, std::string_view target, const request_options& options = request_options(),
                    std::string_view extra = {}, std::string_view host = "t.example") {
    const auto start = request_start::make(method, target, host);
    if (!start) return std::string(start.error().text());
    std::vector<char> room(request_head_bytes_max(*start, options, extra));
    char* const end = try_encode_request_head(room.data(), *start, options, extra);
    if (end == nullptr) return "refused";
    const std::string head(room.data(), end);
    const bool encrypted = target.starts_with("https:");
    EXPECT_TRUE(
        testing::verdict(head, parser_kind::scalar, head_limits().encrypted(encrypted)).starts_with("ok " + std::to_string(head.size())))
        << head;
    return head;
}

errc refused(std::string_view method, std::string_view target, std::string_view host) {
    const auto start = request_start::make(method, target, host);
    if (start) return errc::none;
    EXPECT_FALSE(start.error().is_peer());
    return static_cast<errc>(start.error().code());
}

TEST(request_encoder, forms_of_target) {
    EXPECT_EQ(encoded("GET", "/a?b"), "GET /a?b HTTP/1.1\r\nHost: t.example\r\n\r\n");
    EXPECT_EQ(encoded("GET", "http://t.example/a"), "GET http://t.example/a HTTP/1.1\r\nHost: t.example\r\n\r\n");
    EXPECT_EQ(encoded("GET", "https://t.example:443/a"), "GET https://t.example:443/a HTTP/1.1\r\nHost: t.example\r\n\r\n");
    EXPECT_EQ(encoded("CONNECT", "t.example:443"), "CONNECT t.example:443 HTTP/1.1\r\nHost: t.example\r\n\r\n");
    EXPECT_EQ(encoded("OPTIONS", "*"), "OPTIONS * HTTP/1.1\r\nHost: t.example\r\n\r\n");
    EXPECT_EQ(encoded("PURGE", "/", request_options(), {}, "[::1]:8080"), "PURGE / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
}

TEST(request_encoder, refuses_what_would_be_read_otherwise) {
    EXPECT_EQ(refused("GET /x HTTP/1.1\r\nX:", "/", "a"), errc::bad_method);
    EXPECT_EQ(refused("", "/", "a"), errc::bad_method);
    EXPECT_EQ(refused(std::string(33, 'A'), "/", "a"), errc::method_too_long);
    for (const std::string_view target :
         {""sv, "/a b"sv, "/\r\nHost: b"sv, "/a#b"sv, "/\x80"sv, "a"sv, "/%00"sv, "/%4"sv, "/a\0"sv, "ftp://a/"sv}) {
        EXPECT_EQ(refused("GET", target, "a"), errc::bad_target) << target;
    }
    EXPECT_EQ(refused("GET", "*", "a"), errc::target_form);
    EXPECT_EQ(refused("CONNECT", "/", "a"), errc::target_form);
    EXPECT_EQ(refused("CONNECT", "a", "a"), errc::bad_target);
    EXPECT_EQ(refused("GET", "/" + std::string(request_start::target_bytes_max, 'a'), "a"), errc::target_too_long);
    for (const std::string_view host : {""sv, "a\r\nX: y"sv, "a b"sv, "user@a"sv, "a,b"sv, "a:99999"sv, "[::1"sv}) {
        EXPECT_EQ(refused("GET", "/", host), errc::bad_host) << host;
    }
    EXPECT_EQ(refused("GET", "http://a/", "b"), errc::host_mismatch);
    EXPECT_EQ(refused("GET", "http://a:81/", "a"), errc::host_mismatch);
    EXPECT_EQ(encoded("POST", "/", request_options().content(body_framing::until_close())), "refused");
    EXPECT_EQ(encoded("TRACE", "/", request_options().content(body_framing::length(1))), "refused");
    EXPECT_EQ(encoded("CONNECT", "a:1", request_options().content(body_framing::chunked())), "refused");
}

TEST(request_encoder, content) {
    const std::string host = " / HTTP/1.1\r\nHost: t.example\r\n";
    for (const std::string method : {"POST", "PUT", "PATCH"}) EXPECT_EQ(encoded(method, "/"), method + host + "Content-Length: 0\r\n\r\n");
    for (const std::string method : {"GET", "HEAD", "DELETE"}) EXPECT_EQ(encoded(method, "/"), method + host + "\r\n");
    EXPECT_EQ(encoded("GET", "/", request_options().content(body_framing::length(5))), "GET" + host + "Content-Length: 5\r\n\r\n");
    EXPECT_EQ(encoded("POST", "/", request_options().content(body_framing::length(UINT64_MAX)).expect_continue(true)),
              "POST" + host + "Content-Length: 18446744073709551615\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(encoded("POST", "/", request_options().content(body_framing::chunked())),
              "POST" + host + "Transfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(encoded("POST", "/", request_options().expect_continue(true)), "POST" + host + "Content-Length: 0\r\n\r\n");
}

TEST(request_encoder, connection) {
    const std::string before = "GET / HTTP/1.1\r\nHost: t.example\r\n";
    EXPECT_EQ(encoded("GET", "/", request_options().close(true)), before + "Connection: close\r\n\r\n");
    EXPECT_EQ(encoded("GET", "/", request_options().upgrade(field_value::literal("websocket"))),
              before + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    const auto all = request_options().close(true).take_trailers(true).upgrade(field_value::literal("a, b"));
    EXPECT_EQ(encoded("GET", "/", all), before + "Connection: close, Upgrade, TE\r\nUpgrade: a, b\r\nTE: trailers\r\n\r\n");
}

TEST(request_encoder, fields_of_the_caller) {
    char room[64];
    const auto value = field_value::literal("1");
    char* const end = try_encode_request_field(room, token::literal("X-Own"), value);
    ASSERT_NE(end, nullptr);
    EXPECT_EQ(encoded("GET", "/", request_options(), {room, end}), "GET / HTTP/1.1\r\nHost: t.example\r\nX-Own: 1\r\n\r\n");
    EXPECT_NE(try_encode_request_field(room, token::literal("Trailer"), value), nullptr);
    for (const std::string_view name :
         {"host", "Content-Length", "transfer-encoding", "Connection", "Expect", "Upgrade", "TE", "Keep-Alive", "proxy-connection"}) {
        EXPECT_EQ(try_encode_request_field(room, token::make(name).value(), value), nullptr) << name;
    }
}

// Each byte at the start, in the middle and at the end of each part that a caller gives: what is not refused is read back as what it was, with
// no line more than was meant.
TEST(request_encoder, no_byte_breaks_out_of_its_place) {
    enum part { method, target, query, host, name, value, protocol, parts };
    std::size_t taken = 0;
    for (int which = 0; which < parts; ++which) {
        for (int place = 0; place < 3; ++place) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string text[parts] = {"GET", "/ab", "/?ab", "t.example", "X-Own", "ab", "foo"};
                std::string& changed = text[which];
                const std::size_t begin = which == target ? 1 : which == query ? 2 : 0;
                const std::size_t at = place == 0 ? begin : place == 1 ? begin + 1 : changed.size();
                changed.insert(at, 1, static_cast<char>(byte));
                const std::string& wanted = which == query ? text[query] : text[target];

                const auto start = request_start::make(text[method], wanted, text[host]);
                const auto own = token::make(text[name]);
                const auto given = field_value::make(text[value]);
                const auto asked = field_value::make(text[protocol]);
                const bool breaks = byte == '\r' || byte == '\n' || byte == 0;
                EXPECT_FALSE(breaks && start && own && given && asked) << which << " " << place << " " << byte;
                if (!start || !own || !given || !asked) continue;
                ++taken;
                char line[64];
                const std::string_view extra(line, try_encode_request_field(line, *own, *given));
                const auto options = request_options().upgrade(*asked);
                std::vector<char> room(request_head_bytes_max(*start, options, extra));
                const std::string head(room.data(), try_encode_request_head(room.data(), *start, options, extra));
                testing::delivery in(head, head_limits());
                const parse_status status = in.give(head.size(), parser_kind::scalar);
                ASSERT_TRUE(status.is_complete()) << head;
                EXPECT_EQ(status.consumed(), head.size());
                EXPECT_EQ(in.head().method_text(), text[method]);
                EXPECT_EQ(in.head().target(), wanted);
                EXPECT_EQ(in.head().field(http::field_id::host), text[host]);
                EXPECT_EQ(in.head().field(text[name]), text[value]);
                EXPECT_EQ(in.head().field(http::field_id::upgrade), text[protocol]);
                EXPECT_EQ(in.head().field_count(), 4u) << head;
            }
        }
    }
    EXPECT_GT(taken, 2000u);
}

}  // namespace
}  // namespace martlet::http1
