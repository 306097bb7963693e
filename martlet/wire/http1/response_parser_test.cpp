// Responses whole, at every split and byte by byte: heads, framing by method and status, interim ones, persistence, limits.
#include <martlet/wire/http1/response_parser.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/http1/response_test_internal.hpp>

namespace martlet::http1 {
namespace {

using namespace std::string_view_literals;

struct setting {
    http::method method = http::method::get;
    bool asks_upgrade = false;
    bool ends = false;
    head_limits limits = head_limits();
};

std::string verdict(std::string_view bytes, std::size_t first, std::size_t step, const setting& with) {
    const auto context = response_context(with.method).asks_upgrade(with.asks_upgrade);
    return testing::response_verdict(bytes, first, step, context, with.ends, with.limits, 1 << 20, true);
}

// The verdict, after holding that every delivery gives it.
std::string told(std::string_view bytes, const setting& with = setting()) {
    const std::string whole = verdict(bytes, bytes.size(), 1, with);
    EXPECT_EQ(verdict(bytes, 1, 1, with), whole) << "byte by byte " << bytes.substr(0, 200);
    const std::size_t step = bytes.size() > 2000 ? bytes.size() / 53 : 1;
    for (std::size_t split = 1; split < bytes.size(); split += step) {
        EXPECT_EQ(verdict(bytes, split, bytes.size(), with), whole) << "split at " << split << " " << bytes.substr(0, 200);
    }
    return whole;
}

// "ok 200 [content] reuse" and the like, or the error.
std::string agreed(std::string_view bytes, const setting& with = setting()) {
    const std::string all = told(bytes, with);
    return all.substr(0, all.find('\n'));
}

std::string refusal(errc why) { return "error " + std::to_string(static_cast<unsigned>(why)); }

std::string answer(std::string_view line, std::string_view fields, std::string_view content = {}) {
    return std::string(line) + "\r\n" + std::string(fields) + "\r\n" + std::string(content);
}
std::string ok(std::string_view fields, std::string_view content = {}) { return answer("HTTP/1.1 200 OK", fields, content); }

TEST(response_parser, status_line) {
    const auto line = [](std::string_view text) { return agreed(answer(text, "Content-Length: 0\r\n")); };
    EXPECT_EQ(line("HTTP/1.1 200 OK"), "ok 200 [] reuse");
    EXPECT_EQ(line("HTTP/1.1 200"), "ok 200 [] reuse");
    EXPECT_EQ(line("HTTP/1.1 200 "), "ok 200 [] reuse");
    EXPECT_EQ(line("HTTP/1.7 999 \xfftwo words\t"), "ok 999 [] reuse");
    EXPECT_EQ(line("HTTP/1.0 200 OK"), "ok 200 [] noreuse");
    for (const std::string_view bad :
         {"HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 X", "HTTP/1.1 -20 OK", "HTTP/1.1  200 OK", "HTTP/1.1", "HTTP/1.1 ",
          "HTTP/1.1 200\tOK", "http/1.1 200 OK", "ICY 200 OK", "HTTP 200", " HTTP/1.1 200 OK"}) {
        const std::string why = line(bad);
        EXPECT_TRUE(why == refusal(errc::bad_status_line) || why == refusal(errc::bad_version)) << bad << " " << why;
    }
    EXPECT_EQ(line("HTTP/2.0 200 OK"), refusal(errc::version_not_supported));
    EXPECT_EQ(line("HTTP/1.1 200 OK\rX: y"), refusal(errc::bad_line_end));
    EXPECT_EQ(agreed("HTTP/1.1 200 OK\nX: y\r\n\r\n"), refusal(errc::bad_line_end));
    EXPECT_EQ(agreed("\r\nHTTP/1.1 200 OK\r\n\r\n"), refusal(errc::too_many_empty_lines));
    EXPECT_EQ(agreed("X"), refusal(errc::bad_status_line));
    EXPECT_EQ(agreed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r"), "more");
    EXPECT_EQ(agreed(""), "more");
}

TEST(response_parser, fields) {
    EXPECT_EQ(told(ok("ETag: \"a\"\r\nx-own:\t1 \r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n", "okrest")),
              "ok 200 [ok] reuse\n96 200[OK] ETag=\"a\" x-own=1 Set-Cookie=a=1 Set-Cookie=b=2 Content-Length=2");
    for (const std::string_view bad : {"X : a\r\n"sv, ": a\r\n"sv, "X\r\n"sv})
        EXPECT_EQ(agreed(ok(bad)), refusal(errc::bad_field_name)) << bad;
    EXPECT_EQ(agreed(ok(" X: a\r\n")), refusal(errc::folded_line));
    for (const std::string_view bad : {"X: a\0b\r\n"sv, "X: a\rb\r\n"sv, "X: a\nY: b\r\n"sv}) {
        EXPECT_EQ(agreed(ok(bad)), refusal(errc::bad_line_end)) << bad;
    }
    for (const std::string name : {"Content-Length: 2\r\n", "Content-Type: a/b\r\n", "Location: /\r\n"}) {
        EXPECT_EQ(agreed(ok(name + "X: y\r\n" + name)), refusal(errc::repeated_field)) << name;
    }
}

TEST(response_head, fields_by_id_and_name) {
    field_record records[8];
    response_head head(records, 8);
    response_resume resume;
    const std::string bytes = ok("ETag: \"a\"\r\nVary: a\r\nvary: b\r\nDate: x\r\nX-Own: 1\r\n");
    ASSERT_TRUE(parse_response(bytes, head_limits(), response_context(http::method::get), head, resume).is_complete());
    EXPECT_EQ(head.field(http::field_id::etag), "\"a\"");
    EXPECT_EQ(head.field("etag"), "\"a\"");
    EXPECT_FALSE(head.is_repeated(http::field_id::etag));
    EXPECT_EQ(head.field(http::field_id::vary), "a");
    EXPECT_TRUE(head.is_repeated(http::field_id::vary));
    EXPECT_EQ(head.field(http::field_id::date), "x");
    EXPECT_EQ(head.field("x-own"), "1");
    EXPECT_FALSE(head.has(http::field_id::location));
    EXPECT_EQ(head.field("location"), std::nullopt);
    EXPECT_EQ(head.field_count(), 5u);
    EXPECT_EQ(head.bytes(), bytes);
    EXPECT_TRUE(resume.is_fresh());
}

TEST(response_parser, framing) {
    const setting head{.method = http::method::head};
    const setting connect{.method = http::method::connect};
    const setting ends{.ends = true};
    EXPECT_EQ(agreed(ok("Content-Length: 2\r\n", "ok")), "ok 200 [ok] reuse");
    EXPECT_EQ(agreed(ok("Content-Length: 2\r\n", "o"), ends), "error early end");
    EXPECT_EQ(agreed(ok("Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\n\r\n")), "ok 200 [ok] reuse");
    EXPECT_EQ(agreed(ok("Transfer-Encoding: chunked\r\n", "2\r\nok\r\n"), ends), "error early end");
    EXPECT_EQ(told(ok("Transfer-Encoding: chunked\r\n", "0\r\nX: y\r\nVary: z\r\n\r\n")),
              "ok 200 [] reuse\n67 200[OK] Transfer-Encoding=chunked +X=y");
    EXPECT_EQ(agreed(ok("", "all of it")), "more");
    EXPECT_EQ(agreed(ok("", "all of it"), ends), "ok 200 [all of it] noreuse");
    EXPECT_EQ(agreed(ok("Content-Length: 5\r\n"), head), "ok 200 [] reuse");
    EXPECT_EQ(agreed(ok("Transfer-Encoding: chunked\r\n"), head), "ok 200 [] reuse");
    EXPECT_EQ(agreed(ok(""), head), "ok 200 [] reuse");
    EXPECT_EQ(agreed(ok("Content-Length: 5\r\nTransfer-Encoding: x\r\nContent-Length: y\r\n", "hello"), connect), "ok 200 [] tunnel");
    EXPECT_EQ(agreed(answer("HTTP/1.1 407 X", "Content-Length: 2\r\n", "no"), connect), "ok 407 [no] reuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 204 X", "Content-Length: 5\r\n")), "ok 204 [] reuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 204 X", "Transfer-Encoding: chunked\r\n")), "ok 204 [] noreuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 304 X", "Content-Length: 5\r\n")), "ok 304 [] reuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 304 X", "")), "ok 304 [] reuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 205 X", "Content-Length: 3\r\n", "abc")), "ok 205 [] noreuse");
    EXPECT_EQ(agreed(answer("HTTP/1.1 205 X", "Content-Length: 0\r\n")), "ok 205 [] reuse");

    EXPECT_EQ(agreed(ok("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n")), refusal(errc::length_and_coding));
    EXPECT_EQ(agreed(answer("HTTP/1.0 200 X", "Transfer-Encoding: chunked\r\n")), refusal(errc::coding_in_old_version));
    for (const std::string_view codings : {"chunked, chunked", "identity", "chunked, gzip", "", "chunked,", "chunk ed"}) {
        EXPECT_EQ(agreed(ok("Transfer-Encoding: " + std::string(codings) + "\r\n")), refusal(errc::bad_transfer_coding)) << codings;
    }
    EXPECT_EQ(agreed(ok("Transfer-Encoding: gzip, chunked\r\n")), refusal(errc::unknown_transfer_coding));
    for (const std::string_view length : {"-1", "+1", "0x2", "", "2, 2", "18446744073709551618", "1 2"}) {
        EXPECT_EQ(agreed(ok("Content-Length: " + std::string(length) + "\r\n")), refusal(errc::bad_content_length)) << length;
    }
}

TEST(response_parser, keep_alive) {
    const auto with = [](std::string_view version, std::string_view fields) {
        return agreed(answer(std::string(version) + " 200 OK", std::string(fields) + "Content-Length: 0\r\n"));
    };
    EXPECT_EQ(with("HTTP/1.1", "Connection: keep-alive\r\n"), "ok 200 [] reuse");
    EXPECT_EQ(with("HTTP/1.1", "Connection: x\r\nConnection: Close\r\n"), "ok 200 [] noreuse");
    EXPECT_EQ(with("HTTP/1.1", "Connection: keep-alive, close\r\n"), "ok 200 [] noreuse");
    EXPECT_EQ(with("HTTP/1.0", "Connection: Keep-Alive\r\n"), "ok 200 [] reuse");
    EXPECT_EQ(with("HTTP/1.0", ""), "ok 200 [] noreuse");
}

TEST(response_parser, interim_and_upgrade) {
    const std::string final_head = ok("Content-Length: 0\r\n");
    EXPECT_EQ(agreed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 X\r\nContent-Length: 5\r\n\r\n" + final_head), "ok 200 [] reuse");
    std::string many;
    for (int i = 0; i < 32; ++i) many += "HTTP/1.1 103 E\r\n\r\n";
    EXPECT_EQ(agreed(many + final_head), "ok 200 [] reuse");
    EXPECT_EQ(agreed(many + "HTTP/1.1 103 E\r\n\r\n" + final_head), refusal(errc::too_many_interim_heads));
    EXPECT_EQ(agreed("HTTP/1.1 100 C\r\n\r\n" + final_head, {.limits = head_limits().interim_heads_max(0)}),
              refusal(errc::too_many_interim_heads));

    const std::string switching = answer("HTTP/1.1 101 X", "Connection: upgrade\r\nUpgrade: foo\r\n", "frames");
    EXPECT_EQ(agreed(switching), refusal(errc::unexpected_upgrade));
    EXPECT_EQ(agreed(switching, {.asks_upgrade = true}), "ok 101 [] tunnel");
    EXPECT_EQ(agreed(answer("HTTP/1.1 101 X", "Upgrade: foo\r\n"), {.asks_upgrade = true}), refusal(errc::unexpected_upgrade));
    EXPECT_EQ(agreed(answer("HTTP/1.1 101 X", "Connection: upgrade\r\n"), {.asks_upgrade = true}), refusal(errc::unexpected_upgrade));
}

TEST(response_parser, limits) {
    const auto limited = [](std::string_view bytes, const head_limits& limits) { return agreed(bytes, {.limits = limits}); };
    const std::string head = "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 0\r\n\r\n";
    EXPECT_EQ(limited(head, head_limits().request_line_bytes_max(15).field_bytes_max(17).fields_max(2).head_bytes_max(head.size())),
              "ok 200 [] reuse");
    EXPECT_EQ(limited(head, head_limits().request_line_bytes_max(14)), refusal(errc::head_too_large));
    EXPECT_EQ(limited(head, head_limits().field_bytes_max(16)), refusal(errc::field_too_large));
    EXPECT_EQ(limited(head, head_limits().fields_max(1)), refusal(errc::too_many_fields));
    EXPECT_EQ(limited(head, head_limits().head_bytes_max(head.size() - 1)), refusal(errc::head_too_large));
    EXPECT_EQ(limited("HTTP/1.1 200 " + std::string(100000, 'x'), head_limits()), refusal(errc::head_too_large));
    const auto error = make_response_error(errc::bad_status_line);
    EXPECT_EQ(error.http_status(), 502);
    EXPECT_TRUE(error.is_peer());
}

TEST(response_parser, what_was_refused_is_refused_again) {
    field_record records[8];
    response_head head(records, 8);
    response_resume resume;
    const auto limits = head_limits().interim_heads_max(0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(parse_response("HTTP/1.1 103 E\r\n\r\n", limits, response_context(http::method::get), head, resume).is_failed());
    }
}

}  // namespace
}  // namespace martlet::http1
