// Chunked contents whole, at every split and byte by byte: grammar, limits, trailers; and what writes them.
#include <martlet/wire/http1/chunked.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/http1/content_test_internal.hpp>
#include <martlet/wire/http1/encoder.hpp>

namespace martlet::http1 {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::string times(std::size_t count, std::string_view what) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += what;
    return text;
}

std::string verdict(std::string_view bytes, std::size_t first, std::size_t step, const content_limits& limits, std::uint64_t most) {
    chunked_decoder decoder(limits, most);
    return testing::content_verdict(decoder, bytes, first, step);
}

// The verdict, after holding that every delivery gives it and that it stands when more bytes follow.
std::string agreed(std::string_view bytes, const content_limits& limits = content_limits(), std::uint64_t most = content_unlimited) {
    const std::string whole = verdict(bytes, bytes.size(), 1, limits, most);
    EXPECT_EQ(verdict(bytes, 1, 1, limits, most), whole) << "byte by byte " << bytes.substr(0, 200);
    const std::size_t step = bytes.size() > 2000 ? bytes.size() / 97 : 1;
    for (std::size_t split = 1; split < bytes.size(); split += step) {
        EXPECT_EQ(verdict(bytes, split, bytes.size(), limits, most), whole) << "split at " << split << " " << bytes.substr(0, 200);
    }
    if (!whole.starts_with("more")) {
        EXPECT_EQ(verdict(std::string(bytes) + "5\r\nother\r\n0\r\n\r\n", bytes.size() + 8, 1, limits, most), whole)
            << bytes.substr(0, 200);
    }
    return whole;
}

// "400" and the like: what stands before the content, without the code.
std::string outcome(const std::string& verdict) { return verdict.substr(0, verdict.find(' ')); }
std::string refusal(errc code) {
    const auto error = make_error(code);
    return std::to_string(error.http_status()) + " " + std::to_string(static_cast<unsigned>(code));
}

TEST(chunked_decoder, chunks) {
    EXPECT_EQ(agreed("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), "ok 26 [hello world]");
    EXPECT_EQ(agreed("0\r\n\r\n"), "ok 5 []");
    EXPECT_EQ(agreed("a\r\n0123456789\r\n0\r\n\r\n"), "ok 20 [0123456789]");
    EXPECT_EQ(agreed("A\r\n0123456789\r\n000\r\n\r\n"), "ok 22 [0123456789]");
    EXPECT_EQ(agreed("0000000000000005\r\nhello\r\n0\r\n\r\n"), "ok 30 [hello]");
    EXPECT_EQ(agreed("4\r\n\r\n\0\n\r\n0\r\n\r\n"s), "ok 14 [\r\n\0\n]"s);
    EXPECT_EQ(agreed("2\r\nok\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "ok 12 [ok]");
    EXPECT_EQ(agreed(""), "more []");
    EXPECT_EQ(agreed("5\r\nhel"), "more [hel]");
    EXPECT_EQ(agreed("5\r\nhello\r\n0\r\n"), "more [hello]");
    EXPECT_EQ(agreed("5\r\nhello\r\n0\r\n\r"), "more [hello]");
}

TEST(chunked_decoder, sizes) {
    for (const std::string_view bad : {"0x5\r\nhello",
                                       "+5\r\nhello",
                                       "-5\r\n",
                                       " 5\r\n",
                                       "\t5\r\n",
                                       "5 \r\nhello",
                                       "5\t\r\n",
                                       "5_0\r\n",
                                       "5g\r\n",
                                       "5 5\r\n",
                                       "5,\r\n",
                                       "\r\n",
                                       ";a\r\n",
                                       "\n",
                                       "5\nhello",
                                       "g",
                                       "00000000000000005\r\n",
                                       "FFFFFFFFFFFFFFFF\r\n",
                                       "8000000000000000\r\n",
                                       "10000000000000005\r\n",
                                       "f0000000000000003\r\n"}) {
        EXPECT_EQ(agreed(bad), refusal(errc::bad_chunk_size) + " []") << bad;
    }
    EXPECT_EQ(agreed("7FFFFFFFFFFFFFFF\r\nx"), "more [x]");
}

TEST(chunked_decoder, line_ends) {
    for (const std::string_view bad : {"5\rhello", "5\r\r\nhello"}) EXPECT_EQ(agreed(bad), refusal(errc::bad_chunk_end) + " []") << bad;
    for (const std::string_view bad :
         {"5\r\nhello\n0\r\n", "5\r\nhello\r0\r\n", "5\r\nhello0\r\n", "5\r\nhelloXX0\r\n", "5\r\nhelloworld", "5\r\nhello\r\r\n"}) {
        EXPECT_EQ(agreed(bad), refusal(errc::bad_chunk_end) + " [hello]") << bad;
    }
    EXPECT_EQ(agreed("5\r\nhello\r\n0\r\n\n"), refusal(errc::bad_line_end) + " [hello]");
    EXPECT_EQ(agreed("5\r\nhello\r\n0\r\n\r0"), refusal(errc::bad_line_end) + " [hello]");
    EXPECT_EQ(agreed("5\r\nhello\r\n0\n\r\n"), refusal(errc::bad_chunk_size) + " [hello]");
    EXPECT_EQ(agreed("5\r\nhello\r\n\r\n0\r\n\r\n"), refusal(errc::bad_chunk_size) + " [hello]");
}

TEST(chunked_decoder, extensions) {
    for (const std::string_view good : {"5;a=b\r\n", "5;a\r\n", "5;a=\"b;c\\\"d\"\r\n", "5 ; a = b\r\n", "5\t;\ta\t=\t\"\"\r\n",
                                        "5;a;b=c;d=\"e\" ;f\r\n", "5;a=\"\xff\t[]\"\r\n", "5;a=\"\\\\\"\r\n"}) {
        EXPECT_EQ(agreed(std::string(good) + "hello\r\n0;last\r\n\r\n"), "ok " + std::to_string(good.size() + 17) + " [hello]") << good;
    }
    for (const std::string_view bad :
         {"5;\r\n", "5;=b\r\n", "5;a[=b\r\n", "5;a=\r\n", "5;a=\"\r\n", "5;a=\"b\"c\r\n", "5;a=b \r\n", "5;a \r\n", "5;a b\r\n",
          "5;a=b c\r\n", "5;a\n", "5;\n", "5;a=\"\n", "5;a=\"\\\r", "5;a=\"\\\x7f", "5;a=[\r\n", "5;;a\r\n", "5;a==b\r\n"}) {
        EXPECT_EQ(agreed(bad), refusal(errc::bad_chunk_extension) + " []") << bad;
    }
    EXPECT_EQ(agreed("5;a\0b\r\n"s), refusal(errc::bad_chunk_extension) + " []");
    EXPECT_EQ(agreed("5;a\rb\r\n"), refusal(errc::bad_chunk_end) + " []");
    EXPECT_EQ(agreed("5;a\r\r\n"), refusal(errc::bad_chunk_end) + " []");
}

TEST(chunked_decoder, extension_limits) {
    const std::string at_limit = "1;" + times(255, "a") + "\r\nx\r\n";
    EXPECT_EQ(outcome(agreed(at_limit + "0\r\n\r\n")), "ok");
    EXPECT_EQ(agreed("1;" + times(256, "a")), refusal(errc::chunk_extension_too_large) + " []");
    EXPECT_EQ(outcome(agreed(times(64, at_limit) + "0\r\n\r\n")), "ok");
    EXPECT_EQ(agreed(times(64, at_limit) + "1;"), refusal(errc::chunk_extension_too_large) + " [" + times(64, "x") + "]");
    EXPECT_EQ(outcome(agreed(times(4000, "1;aaaaaaaa\r\nx\r\n"))), "400");
}

TEST(chunked_decoder, overhead_limit) {
    EXPECT_EQ(outcome(agreed(times(2000, "1\r\nx\r\n") + "0\r\n\r\n")), "ok");
    const content_limits limits = content_limits().chunk_overhead_bytes_max(40);
    EXPECT_EQ(outcome(agreed(times(10, "1\r\nx\r\n") + "0\r\n\r\n", limits)), "ok");
    EXPECT_EQ(agreed(times(11, "1\r\nx\r\n") + "0\r\n\r\n", limits), refusal(errc::chunk_overhead_too_large) + " [" + times(10, "x") + "]");
    EXPECT_EQ(outcome(agreed(times(40, times(10, "1\r\nx\r\n") + "30\r\n" + times(48, "y") + "\r\n") + "0\r\n\r\n", limits)), "ok");
    EXPECT_EQ(outcome(agreed(times(70000, "1\r\nx\r\n") + "0\r\n\r\n")), "400");
}

TEST(chunked_decoder, content_limit) {
    EXPECT_EQ(agreed("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", content_limits(), 6), "ok 21 [hello!]");
    EXPECT_EQ(agreed("5\r\nhello\r\n2\r\n!!\r\n", content_limits(), 6), refusal(errc::content_too_large) + " [hello]");
    EXPECT_EQ(agreed("7FFFFFFFFFFFFFFF\r\nhello", content_limits(), 1 << 20), refusal(errc::content_too_large) + " []");
    EXPECT_EQ(agreed("0\r\n\r\n", content_limits(), 0), "ok 5 []");
}

std::string after_hello(std::string_view trailers) { return agreed("5\r\nhello\r\n0\r\n" + std::string(trailers)); }

TEST(trailers, kept_dropped_and_refused) {
    EXPECT_EQ(after_hello("X-Sum: 1\r\n\r\n"), "ok 25 [hello] X-Sum=1");
    EXPECT_EQ(after_hello("X-A:1\r\nx-b: \t 2 3\t\r\nETag:\r\n\r\n"), "ok 42 [hello] X-A=1 x-b=2 3 ETag=");
    EXPECT_EQ(after_hello("Content-Type: x/y\r\nX: 1\r\ntrailer: X\r\nY: 2\r\nSet-Cookie: a=b\r\n\r\n"), "ok 75 [hello] X=1 Y=2");
    for (const char* name :
         {"Transfer-Encoding: chunked", "content-length: 5", "Host: a", "Connection: close", "Upgrade: a", "Expect: 100-continue"}) {
        EXPECT_EQ(after_hello(std::string(name) + "\r\n"), refusal(errc::forbidden_trailer) + " [hello]") << name;
    }
}

TEST(trailers, lines) {
    for (const std::string_view bad : {"X-A : 1\r\n", ": x\r\n", "X\r\n", "GET / HTTP/1.1\r\n", "\x80: 1\r\n"}) {
        EXPECT_EQ(after_hello(bad), refusal(errc::bad_field_name) + " [hello]") << bad;
    }
    EXPECT_EQ(after_hello("X: 1\r\n folded\r\n"), refusal(errc::folded_line) + " [hello]");
    for (const std::string_view bad : {"X-A: 1\nX-B: 2\r\n\r\n"sv, "X: \0"sv, "X: a\rb"sv, "X: a\x7f"sv, "\n"sv, "X: a\r\r\n"sv}) {
        EXPECT_EQ(after_hello(bad), refusal(errc::bad_line_end) + " [hello]") << bad;
    }
    EXPECT_EQ(after_hello("X: 1\r\n"), "more [hello]");
}

TEST(trailers, limits) {
    EXPECT_EQ(outcome(after_hello(times(32, "X: 1\r\n") + "\r\n")), "ok");
    EXPECT_EQ(after_hello(times(33, "X: 1\r\n")), refusal(errc::too_many_fields) + " [hello]");
    EXPECT_EQ(outcome(after_hello("X: " + times(8192 - 7, "a") + "\r\n\r\n")), "ok");
    EXPECT_EQ(after_hello("X: " + times(8192 - 6, "a") + "\r\n\r\n"), refusal(errc::trailers_too_large) + " [hello]");
    EXPECT_EQ(after_hello("Date: " + times(9000, "a")), refusal(errc::trailers_too_large) + " [hello]");
}

TEST(chunked_decoder, a_failure_stays) {
    const content_limits limits;
    chunked_decoder decoder(limits);
    EXPECT_EQ(decoder.feed("x").state, content_state::failed);
    const content_step again = decoder.feed("0\r\n\r\n");
    EXPECT_EQ(again.state, content_state::failed);
    EXPECT_EQ(again.consumed, 0u);
    EXPECT_TRUE(decoder.error().is_peer());
}

TEST(encode_chunk, heads) {
    const auto head = [](std::uint64_t bytes) {
        char room[chunk_head_bytes_max];
        return std::string(room, encode_chunk_head(room, bytes));
    };
    EXPECT_EQ(head(1), "1\r\n");
    EXPECT_EQ(head(15), "f\r\n");
    EXPECT_EQ(head(16), "10\r\n");
    EXPECT_EQ(head(0x1234abcd), "1234abcd\r\n");
    EXPECT_EQ(head(UINT64_MAX), "ffffffffffffffff\r\n");
}

TEST(encode_chunk, trailers) {
    const auto value = http::field_value::literal("1");
    char line[32];
    char* const end = try_encode_trailer(line, http::token::literal("X-Sum"), value);
    ASSERT_NE(end, nullptr);
    EXPECT_EQ(end, line + encoded_field_bytes(http::token::literal("X-Sum"), value));
    EXPECT_EQ(try_encode_trailer(line + 16, http::token::literal("content-length"), value), nullptr);
    EXPECT_EQ(try_encode_trailer(line + 16, http::token::literal("Set-Cookie"), value), nullptr);
    const std::string_view lines(line, end);
    std::string room(last_chunk_bytes(lines), '?');
    EXPECT_EQ(encode_last_chunk(room.data(), lines), room.data() + room.size());
    EXPECT_EQ(room, "0\r\nX-Sum: 1\r\n\r\n");
    EXPECT_EQ(std::string(last_chunk), "0\r\n\r\n");
}

}  // namespace
}  // namespace martlet::http1
