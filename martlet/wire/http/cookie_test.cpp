#include <martlet/wire/http/cookie.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http/error.hpp>

namespace martlet::http {
namespace {

std::string told(std::string_view value) {
    std::string out;
    for (const cookie& one : cookie_view(value)) out += "[" + std::string(one.name()) + "=" + std::string(one.value()) + "]";
    return out;
}

// RFC 6265 section 4.2 and 5.4.
TEST(cookie_view, cookies_in_order) {
    EXPECT_EQ(told("SID=31d4d96e407aad42; lang=en-US"), "[SID=31d4d96e407aad42][lang=en-US]");
    EXPECT_EQ(told(""), "");
    EXPECT_EQ(told(" ; ;;\t"), "");
    EXPECT_EQ(told("a=1;b=2;  c = 3 ;"), "[a=1][b=2][c=3]");
    EXPECT_EQ(told("a==b; c=d=e"), "[a==b][c=d=e]");
    EXPECT_EQ(told("=x; y; z="), "[=x][=y][z=]");
    EXPECT_EQ(told("a=\"x y\"; b=x,y; c=\xc3\xa9"), "[a=\"x y\"][b=x,y][c=\xc3\xa9]");
    // A semicolon inside quotes separates all the same.
    EXPECT_EQ(told("a=\"x;y\""), "[a=\"x][=y\"]");
}

TEST(cookie_view, finds_the_first_of_a_name_and_names_have_case) {
    const cookie_view all = cookie_view::parse("id=1; ID=2; id=3; q=\"v\"; r=\"").value();
    EXPECT_EQ(all.find("id")->value(), "1");
    EXPECT_EQ(all.find("ID")->value(), "2");
    EXPECT_FALSE(all.find("Id"));
    EXPECT_FALSE(all.find(""));
    EXPECT_EQ(all.find("q")->value(), "\"v\"");
    EXPECT_EQ(all.find("q")->unquoted(), "v");
    EXPECT_EQ(all.find("r")->unquoted(), "\"");
}

TEST(cookie_view, takes_just_as_many_as_the_limit) {
    EXPECT_TRUE(cookie_view::parse("a; b=2; ;c", cookie_limits().cookies_max(3)));
    const auto refused = cookie_view::parse("a;b;c;d", cookie_limits().cookies_max(3));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), make_error(errc::too_many_cookies, blame::peer));
    EXPECT_EQ(refused.error().http_status(), 431);

    std::string text;
    for (int i = 0; i < 100; ++i) text += "a=1; ";
    EXPECT_TRUE(cookie_view::parse(text));
    EXPECT_FALSE(cookie_view::parse(text + "a=1"));
}

}  // namespace
}  // namespace martlet::http
