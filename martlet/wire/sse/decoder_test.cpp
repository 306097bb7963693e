#include <martlet/wire/sse/decoder.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/sse/encoder.hpp>
#include <martlet/wire/sse/error.hpp>

namespace martlet::sse {
namespace {

using namespace std::chrono_literals;

// "[name|data|id]" for each event; "!" for an error at the end.
std::string told(const std::vector<std::string_view>& pieces, const decoder_limits& limits = {}) {
    decoder in(limits);
    std::string out;
    for (std::string_view piece : pieces) {
        for (;;) {
            const result<bool> fed = in.feed(piece);
            if (!fed) return out + "!";
            if (!*fed) {
                EXPECT_TRUE(piece.empty());
                break;
            }
            out.append("[").append(in.name()).append("|").append(in.data()).append("|").append(in.last_id()).append("]");
        }
    }
    return out;
}

// Whole, at every split, and byte by byte: always the same.
std::string decoded(std::string_view stream, const decoder_limits& limits = {}) {
    const std::string whole = told({stream}, limits);
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i <= stream.size(); ++i) {
        EXPECT_EQ(told({stream.substr(0, i), stream.substr(i)}, limits), whole) << "split at " << i << " of " << stream;
        if (i < stream.size()) bytes.push_back(stream.substr(i, 1));
    }
    EXPECT_EQ(told(bytes, limits), whole) << "byte by byte: " << stream;
    return whole;
}

// The examples of the specification.
TEST(decoder, the_examples_of_the_specification) {
    EXPECT_EQ(decoded("data: YHOO\ndata: +2\ndata: 10\n\n"), "[message|YHOO\n+2\n10|]");
    EXPECT_EQ(decoded(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
              "[message|first event|1][message|second event|][message| third event|]");
    EXPECT_EQ(decoded("data\n\ndata\ndata\n\ndata:"), "[message||][message|\n|]");
    EXPECT_EQ(decoded("data:test\n\ndata: test\n\n"), "[message|test|][message|test|]");
    EXPECT_EQ(decoded("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n"), "[add|73857293|][remove|2153|]");
}

TEST(decoder, lines_end_in_three_ways) {
    EXPECT_EQ(decoded("data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\r"), "[message|a\nb\nc|][message|d|]");
    EXPECT_EQ(decoded("data: a\r\n\r\ndata: b\n\n"), "[message|a|][message|b|]");
    EXPECT_EQ(decoded("data: a\r\n\ndata: b\r\r\n"), "[message|a|][message|b|]");
    EXPECT_EQ(decoded("\n\n\r\r\n"), "");
}

TEST(decoder, an_event_is_there_as_soon_as_its_line_end_begins) { EXPECT_EQ(told({"data: a\r\n\r"}), "[message|a|]"); }

TEST(decoder, what_is_not_complete_at_the_end_is_dropped) {
    EXPECT_EQ(decoded("data: a\n\ndata: b"), "[message|a|]");
    EXPECT_EQ(decoded("data: a\n\ndata: b\n"), "[message|a|]");
}

TEST(decoder, fields) {
    EXPECT_EQ(decoded("event: x\n\ndata: a\n\n"), "[message|a|]") << "a name without data is forgotten";
    EXPECT_EQ(decoded("event: x\nevent:\ndata: a\n\n"), "[message|a|]");
    EXPECT_EQ(decoded("Data: a\n data: b\ndatum: c\ndata : d\n\n"), "");
    EXPECT_EQ(decoded("data: a:b\n\n"), "[message|a:b|]");
    EXPECT_EQ(decoded("data:\n\n"), "[message||]");
    EXPECT_EQ(decoded("id: 1\n\ndata: a\n\nid: 2\n"), "[message|a|1]") << "an id holds when its event is complete";
    EXPECT_EQ(decoded("id: 1\nid: 2\ndata: a\n\ndata: b\n\n"), "[message|a|2][message|b|2]");
    EXPECT_EQ(decoded(std::string_view("id: 1\nid: 2\0\ndata: a\n\n", 22)), "[message|a|1]") << "an id with NUL is none";
    EXPECT_EQ(decoded(std::string_view("data: a\0b\n\n", 11)), std::string("[message|a\0b|]", 14));
    EXPECT_EQ(decoded("\xef\xbb\xbf"
                      "data: a\n\n"),
              "[message|a|]");
    EXPECT_EQ(decoded("\xef\xbb\xbf\xef\xbb\xbf"
                      "data: a\n\n"),
              "")
        << "only one mark, at the start";
    EXPECT_EQ(decoded("data: a\n\n\xef\xbb\xbf"
                      "data: b\n\n"),
              "[message|a|]");
}

TEST(decoder, retry_is_digits) {
    const auto retry = [](std::string_view stream) {
        decoder in;
        EXPECT_FALSE(in.feed(stream).value());
        return in.retry();
    };
    EXPECT_EQ(retry("retry: 1500\n"), 1500ms);
    EXPECT_EQ(retry("retry:0\n"), 0ms);
    EXPECT_EQ(retry("retry: 99999999999999999999999\n"), std::chrono::milliseconds::max());
    for (const std::string_view bad : {"retry: -1\n", "retry: 1s\n", "retry\n", "retry: \n", "retry:  5\n", "retry: 5"}) {
        EXPECT_EQ(retry(bad), std::nullopt) << bad;
    }
}

TEST(decoder, an_event_is_just_as_long_as_the_limit) {
    const decoder_limits limits = decoder_limits().event_bytes_max(10);
    EXPECT_EQ(decoded("data: 1234\n\n", limits), "[message|1234|]");
    EXPECT_EQ(decoded("data: 12345\n\n", limits), "!");
    EXPECT_EQ(decoded("data:a\n\n:234567890\n\n:2345678901\n\ndata:b\n\n", limits), "[message|a|]!");
    EXPECT_EQ(decoded("data:12345\ndata:6789\n\n", limits), "[message|12345\n6789|]");
    EXPECT_EQ(decoded("data:12345\ndata:67890\n\n", limits), "!");
    decoder in(limits);
    std::string_view bytes = "12345678901";
    EXPECT_EQ(in.feed(bytes).error(), make_error(errc::event_too_long));
    bytes = "\n\ndata:a\n\n";
    EXPECT_EQ(in.feed(bytes).error(), make_error(errc::event_too_long)) << "it stays refused";
    in.restart();
    EXPECT_TRUE(in.feed(bytes).value());
}

TEST(decoder, restarts_with_what_it_remembers) {
    decoder in;
    std::string_view bytes = "id: 1\nretry: 5\ndata: a\n\nid: 2\ndata: b";
    EXPECT_TRUE(in.feed(bytes).value());
    EXPECT_FALSE(in.feed(bytes).value());
    in.restart();
    EXPECT_EQ(in.last_id(), "1");
    EXPECT_EQ(in.retry(), 5ms);
    bytes =
        "\xef\xbb\xbf"
        "data: c\n\n";
    EXPECT_TRUE(in.feed(bytes).value());
    EXPECT_EQ(in.data(), "c");
    EXPECT_EQ(in.last_id(), "1");
}

TEST(decoder, reads_what_the_encoder_writes) {
    std::string stream;
    append_comment(stream, "a\nb");
    ASSERT_TRUE(append(stream, event(" x\r\ny\n").name("n").id("i")));
    append_comment(stream);
    ASSERT_TRUE(append(stream, event("")));
    ASSERT_TRUE(append(stream, event().id("")));
    ASSERT_TRUE(append(stream, event("z")));
    EXPECT_EQ(decoded(stream), "[n| x\ny\n|i][message||i][message|z|]");
}

}  // namespace
}  // namespace martlet::sse
