#include <martlet/wire/http/set_cookie.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http/error.hpp>
#include <martlet/wire/http/field_value.hpp>

namespace martlet::http {
namespace {

const error bad = make_error(errc::bad_cookie, blame::local);
const error rule = make_error(errc::cookie_rule, blame::local);

TEST(set_cookie, writes_its_attributes) {
    EXPECT_EQ(set_cookie("SID", "31d4d96e407aad42").text(), "SID=31d4d96e407aad42");
    EXPECT_EQ(set_cookie("lang", "").path("/").domain("example.com").text(), "lang=; Path=/; Domain=example.com");
    EXPECT_EQ(set_cookie("lang", "en").expires(1623233894).text(), "lang=en; Expires=Wed, 09 Jun 2021 10:18:14 GMT");
    EXPECT_EQ(set_cookie("a", "\"q\"").max_age(-1).secure().http_only().same_site(same_site::strict).text(),
              "a=\"q\"; Max-Age=-1; Secure; HttpOnly; SameSite=Strict");
    EXPECT_EQ(set_cookie("a", "b").same_site(same_site::lax).text(), "a=b; SameSite=Lax");
    EXPECT_EQ(set_cookie("a", "b").secure().same_site(same_site::none).partitioned().text(), "a=b; Secure; SameSite=None; Partitioned");
}

TEST(set_cookie, lets_no_byte_through_that_could_end_it) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text = std::string("a") + static_cast<char>(byte) + "b";
        const bool in_value = byte > 0x20 && byte < 0x7f && std::string_view("\",;\\").find(text[1]) == std::string_view::npos;
        EXPECT_EQ(set_cookie("n", text).text().has_value(), in_value) << byte;
        const bool in_path = byte >= 0x20 && byte < 0x7f && byte != ';';
        EXPECT_EQ(set_cookie("n", "v").path("/" + text).text().has_value(), in_path) << byte;
        const bool in_domain = byte < 0x80 && (std::isalnum(byte) != 0 || byte == '-' || byte == '.');
        EXPECT_EQ(set_cookie("n", "v").domain(text).text().has_value(), in_domain) << byte;
        EXPECT_EQ(set_cookie(text, "v").text().has_value(), token::is_valid(text)) << byte;
    }
    EXPECT_EQ(set_cookie("n", "v\r\nSet-Cookie: x=y").text().error(), bad);
    EXPECT_EQ(set_cookie("", "v").text().error(), bad);
    EXPECT_EQ(set_cookie("n", "\"").text().error(), bad);
    EXPECT_EQ(set_cookie("n", "v").path("").text().error(), bad);
    EXPECT_EQ(set_cookie("n", "v").path("a").text().error(), bad);
    EXPECT_EQ(set_cookie("n", "v").path("/ ").text().error(), bad);
    for (const std::string_view host : {"", ".a", "a.", "a..b", "a b"}) EXPECT_EQ(set_cookie("n", "v").domain(host).text().error(), bad);
}

TEST(set_cookie, is_not_longer_than_user_agents_take) {
    const std::string value(cookie_bytes_max - 1, 'v');
    EXPECT_TRUE(set_cookie("n", value).text());
    EXPECT_EQ(set_cookie("nn", value).text().error(), bad);
    const std::string path = "/" + std::string(cookie_attribute_bytes_max - 1, 'p');
    EXPECT_TRUE(set_cookie("n", "v").path(path).text());
    EXPECT_EQ(set_cookie("n", "v").path(path + "p").text().error(), bad);
}

TEST(set_cookie, keeps_the_rules_of_prefixes_and_attributes) {
    EXPECT_EQ(set_cookie("__Secure-a", "b").text().error(), rule);
    EXPECT_TRUE(set_cookie("__Secure-a", "b").secure().domain("a.example").text());
    EXPECT_TRUE(set_cookie("__Host-a", "b").secure().path("/").text());
    EXPECT_EQ(set_cookie("__Host-a", "b").path("/").text().error(), rule);
    EXPECT_EQ(set_cookie("__Host-a", "b").secure().text().error(), rule);
    EXPECT_EQ(set_cookie("__Host-a", "b").secure().path("/a").text().error(), rule);
    EXPECT_EQ(set_cookie("__Host-a", "b").secure().path("/").domain("a.example").text().error(), rule);
    EXPECT_EQ(set_cookie("__hOsT-a", "b").text().error(), rule) << "prefixes have no case";
    EXPECT_TRUE(set_cookie("__Host", "b").text());
    EXPECT_EQ(set_cookie("a", "b").same_site(same_site::none).text().error(), rule);
    EXPECT_EQ(set_cookie("a", "b").partitioned().text().error(), rule);
}

}  // namespace
}  // namespace martlet::http
