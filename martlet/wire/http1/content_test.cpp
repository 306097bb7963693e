// The content decoder for each framing, whole, at every split and byte by byte, and when the input ends.
#include <martlet/wire/http1/content.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http1/content_test_internal.hpp>

namespace martlet::http1 {
namespace {

const content_limits limits;

std::string verdict(body_framing framing, std::string_view bytes, std::uint64_t most = content_unlimited, bool ends = false) {
    std::string whole;
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        content_decoder decoder(framing, limits, most);
        std::string text = testing::content_verdict(decoder, bytes, split == 0 ? 1 : split, split == 0 ? 1 : bytes.size());
        if (ends) {
            const content_state state = decoder.end_of_input();
            text += state == content_state::complete ? " then complete" : " then " + std::string(decoder.error().text());
        }
        if (split != 0) {
            EXPECT_EQ(text, whole) << "split at " << split;
        }
        whole = text;
    }
    return whole;
}

TEST(content_decoder, none_and_length) {
    EXPECT_EQ(verdict(body_framing::none(), "GET"), "ok 0 []");
    EXPECT_EQ(verdict(body_framing::length(0), "GET"), "ok 0 []");
    EXPECT_EQ(verdict(body_framing::length(5), "helloGET"), "ok 5 [hello]");
    EXPECT_EQ(verdict(body_framing::length(5), "hell"), "more [hell]");
    EXPECT_EQ(verdict(body_framing::length(5), "hell", content_unlimited, true),
              "more [hell] then the connection ended before the content did");
    EXPECT_EQ(verdict(body_framing::length(5), "hello", 5, true), "ok 5 [hello] then complete");
    EXPECT_EQ(verdict(body_framing::length(6), "hello", 5).substr(0, 3), "413");
    content_decoder decoder(body_framing::length(5), limits);
    EXPECT_EQ(decoder.bytes_left(), 5u);
    decoder.feed("he");
    EXPECT_EQ(decoder.bytes_left(), 3u);
}

TEST(content_decoder, chunked) {
    EXPECT_EQ(verdict(body_framing::chunked(), "2\r\nok\r\n0\r\nX: y\r\n\r\nrest"), "ok 18 [ok] X=y");
    EXPECT_EQ(verdict(body_framing::chunked(), "3\r\nabc\r\n", 2).substr(0, 3), "413");
    EXPECT_EQ(verdict(body_framing::chunked(), "2\r\nok\r\n0\r\n", content_unlimited, true),
              "more [ok] then the connection ended before the content did");
    EXPECT_EQ(verdict(body_framing::chunked(), "2\r\nokXX", content_unlimited, true),
              "400 29 [ok] then a chunk or its size line does not end in CRLF");
}

TEST(content_decoder, until_close) {
    EXPECT_EQ(verdict(body_framing::until_close(), "all of it"), "more [all of it]");
    EXPECT_EQ(verdict(body_framing::until_close(), "all of it", 9, true), "more [all of it] then complete");
    EXPECT_EQ(verdict(body_framing::until_close(), "all of it", 8).substr(0, 3), "413");
}

TEST(content_decoder, a_failure_stays) {
    content_decoder decoder(body_framing::length(5), limits);
    EXPECT_EQ(decoder.end_of_input(), content_state::failed);
    EXPECT_EQ(decoder.feed("hello").state, content_state::failed);
    EXPECT_EQ(decoder.code(), errc::incomplete_content);
}

}  // namespace
}  // namespace martlet::http1
