#include <martlet/wire/http/range.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

// "0-9 20-29", "ignored" or "416".
std::string told(std::string_view value, std::uint64_t size_bytes, const range_limits& limits = {}) {
    const range_set set = range_set::parse(value, size_bytes, limits);
    EXPECT_EQ(set.ranges().empty(), set.outcome() != range_outcome::satisfiable);
    if (set.outcome() == range_outcome::ignored) return "ignored";
    if (set.outcome() == range_outcome::unsatisfiable) return "416";
    std::string out;
    for (const byte_range range : set.ranges()) {
        out += (out.empty() ? "" : " ") + std::to_string(range.first()) + "-" + std::to_string(range.last());
    }
    return out;
}

// RFC 9110 section 14.1.2.
TEST(range, the_examples_of_the_rfc) {
    EXPECT_EQ(told("bytes=0-499", 10000), "0-499");
    EXPECT_EQ(told("bytes=500-999", 10000), "500-999");
    EXPECT_EQ(told("bytes=-500", 10000), "9500-9999");
    EXPECT_EQ(told("bytes=9500-", 10000), "9500-9999");
    EXPECT_EQ(told("bytes=0-0,-1", 10000), "0-0 9999-9999");
    EXPECT_EQ(told("bytes= 0-999, 4500-5499, -1000", 10000), "0-999 4500-5499 9000-9999");
    EXPECT_EQ(told("bytes=500-600,601-999", 10000), "500-999");
    EXPECT_EQ(told("bytes=500-700,601-999", 10000), "500-999");
}

TEST(range, ends_at_the_end) {
    EXPECT_EQ(told("bytes=0-", 1), "0-0");
    EXPECT_EQ(told("bytes=5-99999", 10), "5-9");
    EXPECT_EQ(told("bytes=-99999", 10), "0-9");
    EXPECT_EQ(told("bytes=9-9", 10), "9-9");
    EXPECT_EQ(told("bytes=10-", 10), "416");
    EXPECT_EQ(told("bytes=-0", 10), "416");
    EXPECT_EQ(told("bytes=0-", 0), "ignored");
    EXPECT_EQ(told("bytes=-5", 0), "ignored");
    EXPECT_EQ(told("bytes=10-20,0-1", 10), "0-1");
    EXPECT_EQ(told("bytes=10-20,-0", 10), "416");
}

TEST(range, numbers_of_any_length) {
    EXPECT_EQ(told("bytes=99999999999999999999-", 10), "416");
    EXPECT_EQ(told("bytes=99999999999999999999-99999999999999999998", 10), "416") << "both are beyond 64 bits";
    EXPECT_EQ(told("bytes=0-99999999999999999999", 10), "0-9");
    EXPECT_EQ(told("bytes=-99999999999999999999", 10), "0-9");
    EXPECT_EQ(told("bytes=18446744073709551615-18446744073709551615", 18446744073709551615u), "416");
    EXPECT_EQ(told("bytes=18446744073709551614-", 18446744073709551615u), "18446744073709551614-18446744073709551614");
    EXPECT_EQ(told("bytes=0-0,18446744073709551614-", 18446744073709551615u), "0-0 18446744073709551614-18446744073709551614");
}

TEST(range, what_is_none_is_ignored) {
    for (const std::string_view value :
         {"", "bytes", "bytes=", "bytes=,", "bytes 0-1", "items=0-1", "bytes=-", "bytes=1", "bytes=a-b", "bytes=1-0", "bytes=+1-2",
          "bytes=0 -1", "bytes=0- 1", "bytes=0-1-2", "bytes=--1", "bytes=0-1,x", "bytes=0x1-2", "bytes=0-1;2"}) {
        EXPECT_EQ(told(value, 100), "ignored") << value;
    }
    EXPECT_EQ(told("Bytes=0-1", 100), "0-1");
}

TEST(range, overlaps_and_small_gaps_are_made_one_and_order_is_kept) {
    EXPECT_EQ(told("bytes=0-9,90-99", 1000), "0-9 90-99");
    EXPECT_EQ(told("bytes=0-9,89-99", 1000), "0-99");
    EXPECT_EQ(told("bytes=500-509,0-9", 1000), "500-509 0-9");
    EXPECT_EQ(told("bytes=500-509,0-9,505-600", 1000), "500-600 0-9");
    EXPECT_EQ(told("bytes=0-9,200-209,400-409,5-405", 1000), "0-409");
    EXPECT_EQ(told("bytes=800-809,0-9,200-209,400-409,5-405", 1000), "800-809 0-409");
    EXPECT_EQ(told("bytes=0-,0-,0-,0-", 1000), "0-999");
}

TEST(range, more_than_the_limit_is_ignored) {
    EXPECT_EQ(told("bytes=0-0,200-200", 1000, range_limits().ranges_max(2)), "0-0 200-200");
    EXPECT_EQ(told("bytes=0-0,200-200,5000-", 1000, range_limits().ranges_max(2)), "ignored");
    std::string many = "bytes=0-0";
    for (int i = 1; i < 16; ++i) many += "," + std::to_string(i * 1000) + "-" + std::to_string(i * 1000);
    EXPECT_NE(told(many, 1000000), "ignored");
    EXPECT_EQ(told(many + ",900000-", 1000000), "ignored");
    std::string most = "bytes=0-0";
    for (std::size_t i = 1; i < ranges_cap; ++i) most += "," + std::to_string(i * 1000) + "-" + std::to_string(i * 1000);
    EXPECT_EQ(range_set::parse(most, 1000000, range_limits().ranges_max(ranges_cap)).ranges().size(), ranges_cap);
}

// RFC 9110 section 14.4.
TEST(content_range, is_written_and_read) {
    std::string out;
    append_content_range(out, byte_range(42, 1233), 1234);
    EXPECT_EQ(out, "bytes 42-1233/1234");
    EXPECT_EQ(content_range::parse(out)->range(), byte_range(42, 1233));
    EXPECT_EQ(content_range::parse(out)->size_bytes(), 1234u);
    out.clear();
    append_unsatisfied_range(out, 1234);
    EXPECT_EQ(out, "bytes */1234");
    EXPECT_EQ(content_range::parse(out)->range(), std::nullopt);
    EXPECT_EQ(content_range::parse(out)->size_bytes(), 1234u);
    EXPECT_EQ(content_range::parse("bytes 42-1233/*")->size_bytes(), std::nullopt);
    for (const std::string_view value :
         {"", "bytes", "bytes ", "bytes 1-2", "bytes 2-1/3", "bytes 0-3/3", "bytes */*", "items 0-1/2", "bytes 0-1/", "bytes -1/2",
          "bytes 0-/2", "bytes 0-99999999999999999999/*", "bytes/2", "byte/", "bytes 0 -1/2"}) {
        EXPECT_FALSE(content_range::parse(value)) << value;
    }
}

// RFC 9110 section 15.3.7.2.
TEST(byteranges_frame, stands_around_the_parts) {
    const byteranges_frame frame(token::literal("THIS_STRING_SEPARATES"), field_value::literal("application/pdf"), 8000);
    EXPECT_EQ(frame.content_type(), "multipart/byteranges; boundary=THIS_STRING_SEPARATES");
    const byte_range ranges[] = {{500, 999}, {7000, 7999}};
    std::string content;
    for (const byte_range range : ranges) {
        frame.append_part_head(content, range);
        content.append(range.bytes(), 'x');
    }
    frame.append_end(content);
    EXPECT_TRUE(
        content.starts_with("\r\n--THIS_STRING_SEPARATES\r\nContent-Type: application/pdf\r\nContent-Range: bytes 500-999/8000\r\n\r\nxx"));
    EXPECT_TRUE(content.ends_with("xx\r\n--THIS_STRING_SEPARATES--\r\n"));
    EXPECT_EQ(frame.content_bytes(ranges), content.size());
}

}  // namespace
}  // namespace martlet::http
