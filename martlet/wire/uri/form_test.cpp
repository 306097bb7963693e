#include <martlet/wire/uri/form.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/uri/error.hpp>

namespace martlet::uri {
namespace {

std::string told(const form& all) {
    std::string out;
    for (std::size_t i = 0; i < all.size(); ++i) out += "[" + std::string(all.name(i)) + "=" + std::string(all.value(i)) + "]";
    return out;
}

TEST(form, is_decoded_in_order) {
    EXPECT_EQ(told(form::parse("").value()), "");
    EXPECT_EQ(told(form::parse("a=1&b=&c&=d&&a=+%2B").value()), "[a=1][b=][c=][=d][a= +]");
    const form all = form::parse("name=Zo%C3%AB&note=a%26b%3Dc").value();
    EXPECT_EQ(all.find("name"), "Zo\xc3\xab");
    EXPECT_EQ(all.find("note"), "a&b=c");
    EXPECT_EQ(all.find("none"), std::nullopt);
}

TEST(form, bad_escapes_refuse_the_whole) {
    for (const std::string_view text : {"%", "a=%", "a=1&b=%2", "a%zz=1"}) {
        ASSERT_FALSE(form::parse(text)) << text;
        EXPECT_EQ(form::parse(text).error(), make_error(errc::bad_escape, blame::peer));
    }
}

TEST(form, takes_just_as_many_pairs_as_the_limit) {
    EXPECT_TRUE(form::parse("a&b&c", form_limits().pairs_max(3)));
    const auto refused = form::parse("a&b&c&d", form_limits().pairs_max(3));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), make_error(errc::too_many_pairs, blame::peer));
    EXPECT_EQ(refused.error().http_status(), 413);

    std::string text = "a";
    for (int i = 1; i < 1000; ++i) text += "&a";
    EXPECT_TRUE(form::parse(text));
    EXPECT_FALSE(form::parse(text + "&a"));
    EXPECT_TRUE(form::parse(text + "&&"));
}

TEST(form_writer, writes_what_parse_reads) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    const std::string text = form_writer().add("a b", "1+1=2").add("", all).add("x", "").text();
    EXPECT_TRUE(text.starts_with("a+b=1%2B1%3D2&=%00%01"));
    const form back = form::parse(text).value();
    ASSERT_EQ(back.size(), 3u);
    EXPECT_EQ(back.name(0), "a b");
    EXPECT_EQ(back.value(0), "1+1=2");
    EXPECT_EQ(back.value(1), all);
    EXPECT_EQ(back.name(2), "x");
    EXPECT_EQ(back.value(2), "");
}

}  // namespace
}  // namespace martlet::uri
