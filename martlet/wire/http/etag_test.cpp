#include <martlet/wire/http/etag.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http/error.hpp>

namespace martlet::http {
namespace {

TEST(etag, is_read_and_written) {
    for (const std::string_view text : {"\"xyzzy\"", "W/\"xyzzy\"", "\"\"", "W/\"\"", "\"a,b\"", "\"\\\"", "\"\xc3\xa9\""}) {
        ASSERT_TRUE(etag::parse(text)) << text;
        EXPECT_EQ(etag::parse(text)->text(), text);
    }
    for (const std::string_view text :
         {"", "\"", "xyzzy", "w/\"a\"", "W/", "W\"a\"", "\"a\"b", "\"a b\"", "\"a\"\"", "\"a", "*", "\"\x7f\"", " \"a\""}) {
        EXPECT_FALSE(etag::parse(text)) << text;
    }
    EXPECT_EQ(etag::strong("a")->text(), "\"a\"");
    EXPECT_EQ(etag::weak("a")->text(), "W/\"a\"");
    EXPECT_EQ(etag::strong("a\r\n").error(), make_error(errc::bad_etag, blame::local));
    EXPECT_EQ(etag::weak("a\"b").error(), make_error(errc::bad_etag, blame::local));
}

// The table of RFC 9110 section 8.8.3.2.
TEST(etag, is_compared_in_two_ways) {
    const struct {
        std::string_view a, b;
        bool strong, weak;
    } rows[] = {
        {"W/\"1\"", "W/\"1\"", false, true},
        {"W/\"1\"", "W/\"2\"", false, false},
        {"W/\"1\"", "\"1\"", false, true},
        {"\"1\"", "\"1\"", true, true},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(match_strongly(*etag::parse(row.a), *etag::parse(row.b)), row.strong) << row.a << row.b;
        EXPECT_EQ(match_weakly(*etag::parse(row.a), *etag::parse(row.b)), row.weak) << row.a << row.b;
    }
}

TEST(etag_reader, takes_one_tag_after_another) {
    const auto told = [](std::string_view value) {
        std::string out;
        etag_reader all(value);
        while (const auto tag = all.next()) out += "[" + tag->text() + "]";
        return out + (all.is_good() ? "" : "!");
    };
    EXPECT_EQ(told("\"xyzzy\", \"r2d2xxxx\", \"c3piozzzz\""), "[\"xyzzy\"][\"r2d2xxxx\"][\"c3piozzzz\"]");
    EXPECT_EQ(told("W/\"a,b\",\"\\\",,\"c\" ,"), "[W/\"a,b\"][\"\\\"][\"c\"]");
    EXPECT_EQ(told(""), "");
    EXPECT_EQ(told("\"a\" \"b\""), "!");
    EXPECT_EQ(told("\"a\", *"), "[\"a\"]!");
    EXPECT_EQ(told("\"a\", b"), "[\"a\"]!");
}

}  // namespace
}  // namespace martlet::http
