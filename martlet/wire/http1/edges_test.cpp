// What stands just inside and just outside of the grammar and the limits, for all parsers.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <martlet/wire/http1/chunked.hpp>
#include <martlet/wire/http1/content_test_internal.hpp>
#include <martlet/wire/http1/error.hpp>
#include <martlet/wire/http1/parser_test_internal.hpp>
#include <martlet/wire/http1/response_parser.hpp>

namespace martlet::http1 {
namespace {

std::string refusal(errc why) { return std::to_string(make_error(why).http_status()) + " " + std::to_string(static_cast<unsigned>(why)); }

// Of all parsers, at once and byte by byte.
std::string judged(std::string_view bytes) {
    const std::string whole = testing::verdict(bytes, parser_kind::scalar);
    for (const parser_kind kind : testing::kinds) {
        EXPECT_EQ(testing::verdict(bytes, kind), whole) << bytes;
        EXPECT_EQ(testing::verdict(bytes, kind, 1, 1), whole) << bytes;
    }
    return whole;
}

std::string chunks(std::string_view bytes, const content_limits& limits = content_limits()) {
    chunked_decoder decoder(limits);
    return testing::content_verdict(decoder, bytes, bytes.size(), 1);
}

TEST(edges, heads) {
    const std::string host = "\r\nHost: a\r\n\r\n";
    EXPECT_TRUE(judged("\r\nGET / HTTP/1.1" + host).starts_with("ok "));
    EXPECT_EQ(judged("\rxGET / HTTP/1.1" + host), refusal(errc::bad_line_end));
    EXPECT_EQ(judged(" / HTTP/1.1" + host), refusal(errc::bad_request_line));
    EXPECT_TRUE(judged("GET /%0a HTTP/1.1" + host).starts_with("ok "));
    EXPECT_EQ(judged("GET /%0g HTTP/1.1" + host), refusal(errc::bad_target));
    EXPECT_EQ(judged("GET /%g0 HTTP/1.1" + host), refusal(errc::bad_target));
}

TEST(edges, absolute_targets_without_host) {
    EXPECT_TRUE(judged("GET http://a/ HTTP/1.0\r\n\r\n").starts_with("ok "));
    EXPECT_EQ(judged("GET http://a@b/ HTTP/1.0\r\n\r\n"), refusal(errc::bad_target));
    EXPECT_EQ(judged("GET http:/// HTTP/1.0\r\n\r\n"), refusal(errc::bad_target));
}

TEST(edges, absolute_targets_and_host) {
    const auto with_host = [](std::string_view host) {
        return judged("GET http://a:81/ HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    };
    EXPECT_TRUE(with_host("A:81").starts_with("ok "));
    EXPECT_EQ(with_host("b:81"), refusal(errc::host_mismatch));
    EXPECT_EQ(with_host("a:82"), refusal(errc::host_mismatch));
    EXPECT_EQ(with_host("a"), refusal(errc::host_mismatch));
    EXPECT_EQ(with_host("a:81@"), refusal(errc::bad_host));
}

TEST(edges, expectations_of_two_lines) {
    const auto expects = [](std::string_view first, std::string_view second) {
        return judged("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: " + std::string(first) +
                      "\r\nExpect: " + std::string(second) + "\r\n\r\n");
    };
    EXPECT_TRUE(expects("100-continue", "100-continue").starts_with("ok "));
    EXPECT_EQ(expects("100-continue", "more"), refusal(errc::unknown_expectation));
    EXPECT_EQ(expects("more", "100-continue"), refusal(errc::unknown_expectation));
}

TEST(edges, chunk_overhead) {
    // Its size line and line ends are six bytes more than the byte of data with an extension of two, five with a leading zero.
    const auto of = [](std::string_view bytes, std::uint32_t most) {
        return chunks(std::string(bytes) + "0\r\n\r\n", content_limits().chunk_overhead_bytes_max(most));
    };
    EXPECT_EQ(of("1;a\r\nx\r\n", 6), "ok 13 [x]");
    EXPECT_EQ(of("1;a\r\nx\r\n", 5), refusal(errc::chunk_overhead_too_large) + " []");
    EXPECT_EQ(of("01\r\nx\r\n", 5), "ok 12 [x]");
    EXPECT_EQ(of("01\r\nx\r\n", 4), refusal(errc::chunk_overhead_too_large) + " []");
    EXPECT_EQ(of("1\r\nx\r\n01\r\ny\r\n", 9), "ok 18 [xy]");
    EXPECT_EQ(of("1\r\nx\r\n01\r\ny\r\n", 8), refusal(errc::chunk_overhead_too_large) + " [x]");
}

TEST(edges, chunk_extensions) {
    EXPECT_EQ(chunks("1;a=\"\\\"\t\x80\"\r\nx\r\n0\r\n\r\n"), "ok 20 [x]");
    for (const std::string_view bad : {"\"\r\"", "\"\n\"", "\"\\\r\"", "\"\\\n\"", "\"\x7f\"", "\"\\\x01\""}) {
        EXPECT_EQ(chunks("1;a=" + std::string(bad) + "\r\nx\r\n0\r\n\r\n"), refusal(errc::bad_chunk_extension) + " []") << bad;
    }
    EXPECT_EQ(chunks("1:\r\nx\r\n0\r\n\r\n"), refusal(errc::bad_chunk_size) + " []");
    EXPECT_EQ(chunks("g\r\nx\r\n0\r\n\r\n"), refusal(errc::bad_chunk_size) + " []");
}

TEST(edges, interim_heads) {
    const head_limits limits = head_limits().interim_heads_max(2);
    field_record records[8];
    response_head head(records, 8);
    response_resume resume;
    const response_context context(http::method::get);
    const auto take = [&](std::string_view bytes) { return parse_response(bytes, limits, context, head, resume); };
    constexpr std::string_view interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    // Those of each response are counted anew.
    for (int response = 0; response < 2; ++response) {
        EXPECT_TRUE(take(interim).is_complete());
        EXPECT_TRUE(take(interim).is_complete());
        EXPECT_TRUE(take("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_complete());
    }
    EXPECT_TRUE(take(interim).is_complete());
    EXPECT_TRUE(take(interim).is_complete());
    EXPECT_EQ(take(interim).code(), errc::too_many_interim_heads);
}

}  // namespace
}  // namespace martlet::http1
