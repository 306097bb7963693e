#include <martlet/base/bytes.hpp>

#include <string>

#include <gtest/gtest.h>

namespace martlet {
namespace {

TEST(bytes, empty_owns_nothing) {
    const bytes none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.use_count(), 0u);
    EXPECT_EQ(bytes::copy("").value().use_count(), 0u);
    EXPECT_EQ(none.sub(0).size(), 0u);
}

TEST(bytes, a_copy_does_not_follow_its_origin) {
    std::string origin = "origin";
    const bytes copied = bytes::copy(origin).value();
    origin[0] = 'X';
    EXPECT_EQ(copied.view(), "origin");
    EXPECT_EQ(copied.use_count(), 1u);
}

TEST(bytes, owns_a_string_short_or_long) {
    const bytes few = bytes::own("few").value();
    EXPECT_EQ(few.view(), "few");
    std::string text(1000, 'l');
    const char* data = text.data();
    const bytes many = bytes::own(std::move(text)).value();
    EXPECT_EQ(many.data(), data) << "no byte was copied";
    const bytes moved_on = few;
    EXPECT_EQ(moved_on.data(), few.data());
}

TEST(bytes, static_bytes_have_no_owner) {
    const bytes text = bytes::of_static("text");
    const bytes part = text.sub(1, 2);
    EXPECT_EQ(part.view(), "ex");
    EXPECT_EQ(part.use_count(), 0u);
}

TEST(bytes, copies_and_parts_share) {
    bytes part;
    {
        bytes all = bytes::copy("0123456789").value();
        bytes again = all;
        EXPECT_EQ(all.use_count(), 2u);
        bytes moved = std::move(again);
        EXPECT_EQ(again.size(), 0u);
        EXPECT_EQ(all.use_count(), 2u);
        part = moved.sub(3, 4);
        EXPECT_EQ(all.use_count(), 3u);
        EXPECT_EQ(moved.sub(8, 100).view(), "89");
        EXPECT_EQ(moved.sub(10).size(), 0u);
        EXPECT_EQ(moved.sub(11, 1).size(), 0u);
        const bytes& self = part;
        part = self;
    }
    EXPECT_EQ(part.view(), "3456");
    EXPECT_EQ(part.use_count(), 1u);
}

}  // namespace
}  // namespace martlet
