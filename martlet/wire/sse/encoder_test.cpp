#include <martlet/wire/sse/encoder.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/sse/error.hpp>

namespace martlet::sse {
namespace {

using namespace std::chrono_literals;

std::string encoded(const event& of) {
    std::string out = "before|";
    EXPECT_TRUE(append(out, of));
    EXPECT_EQ(out.size(), 7 + encoded_bytes(of));
    buffer same(4096);
    EXPECT_TRUE(append(same, of));
    EXPECT_EQ(same.view(), out.substr(7));
    return out.substr(7);
}

std::string comment(std::string_view text) {
    std::string out;
    append_comment(out, text);
    buffer same(4096);
    EXPECT_TRUE(append_comment(same, text));
    EXPECT_EQ(same.view(), out);
    return out;
}

TEST(encoder, writes_the_fields_of_an_event) {
    EXPECT_EQ(encoded(event("hello")), "data: hello\n\n");
    EXPECT_EQ(encoded(event("")), "data: \n\n");
    EXPECT_EQ(encoded(event()), "\n");
    EXPECT_EQ(encoded(event("x").name("post").id("7").retry(1500ms)), "event: post\nid: 7\nretry: 1500\ndata: x\n\n");
    EXPECT_EQ(encoded(event().id("")), "id: \n\n");
    EXPECT_EQ(encoded(event().retry(-1ms)), "retry: 0\n\n");
    EXPECT_EQ(encoded(event().retry(std::chrono::milliseconds::max())), "retry: 9223372036854775807\n\n");
    EXPECT_EQ(encoded(event(" led by a space")), "data:  led by a space\n\n");
}

TEST(encoder, each_line_of_data_is_a_line) {
    EXPECT_EQ(encoded(event("a\nb\rc\r\nd")), "data: a\ndata: b\ndata: c\ndata: d\n\n");
    EXPECT_EQ(encoded(event("\n")), "data: \ndata: \n\n");
    EXPECT_EQ(encoded(event("a\n\r\n\rb\n")), "data: a\ndata: \ndata: \ndata: b\ndata: \n\n");
    EXPECT_EQ(encoded(event("x\n\ndata: forged")), "data: x\ndata: \ndata: data: forged\n\n");
}

TEST(encoder, refuses_names_and_ids_that_would_end_their_line) {
    for (const std::string_view bad : {std::string_view("a\nb"), std::string_view("\r"), std::string_view("a\0", 2)}) {
        std::string out = "kept";
        EXPECT_EQ(append(out, event("x").name(bad)).error(), make_error(errc::bad_event));
        EXPECT_EQ(append(out, event("x").id(bad)).error(), make_error(errc::bad_event));
        EXPECT_EQ(out, "kept");
        buffer same(4096);
        EXPECT_EQ(append(same, event("x").id(bad)).error(), make_error(errc::bad_event));
        EXPECT_TRUE(same.empty());
    }
}

TEST(encoder, an_event_without_room_leaves_nothing) {
    buffer small(64);
    const std::string data(64, 'x');
    EXPECT_EQ(append(small, event(data)).error(), make_error(errc::no_memory));
    EXPECT_TRUE(small.empty());
    EXPECT_TRUE(append(small, event("fits")));
}

TEST(encoder, comments) {
    EXPECT_EQ(comment(""), ": \n");
    EXPECT_EQ(comment("ping"), ": ping\n");
    EXPECT_EQ(comment("a\ndata: forged\r\rb"), ": a\n: data: forged\n: \n: b\n");
}

}  // namespace
}  // namespace martlet::sse
