#include <martlet/wire/http/media_type.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http/error.hpp>

namespace martlet::http {
namespace {

// RFC 9110 section 8.3.1: these four are one.
TEST(media_type, charset_in_all_its_forms) {
    for (const std::string_view text :
         {"text/html;charset=utf-8", "Text/HTML;Charset=\"utf-8\"", "text/html; charset=\"utf-8\"", "text/html;charset=UTF-8"}) {
        const media_type type = media_type::parse(text).value();
        EXPECT_TRUE(type.is("text/html")) << text;
        EXPECT_FALSE(type.is("text/htm")) << text;
        ASSERT_TRUE(type.parameter("charset")) << text;
        EXPECT_TRUE(type.parameter("CHARSET")->is("utf-8")) << text;
        EXPECT_FALSE(type.parameter("char"));
    }
}

TEST(media_type, parts) {
    const media_type type = media_type::parse(" multipart/form-data ; boundary=\"a b\\\"c\" ; x=1 ; x=2 ").value();
    EXPECT_EQ(type.type(), "multipart");
    EXPECT_EQ(type.subtype(), "form-data");
    EXPECT_EQ(type.essence(), "multipart/form-data");
    EXPECT_EQ(type.parameter("boundary")->value(), "a b\"c");
    EXPECT_EQ(type.parameter("x")->value(), "1");
    EXPECT_EQ(media_type::parse("image/svg+xml").value().subtype(), "svg+xml");
    EXPECT_TRUE(media_type::parse("text/plain;"));
}

TEST(media_type, refuses_what_is_none) {
    for (const std::string_view text : {"", "text", "text/", "/html", "te xt/html", "text/html/x", "text/ html", "text/html charset=x",
                                        "text/html;a", "text/html;a=", "text/html;a=\"", "text/html,text/plain", "text/h\xc3\xa9"}) {
        ASSERT_FALSE(media_type::parse(text)) << text;
        EXPECT_EQ(media_type::parse(text).error(), make_error(errc::bad_media_type, blame::peer));
    }
}

}  // namespace
}  // namespace martlet::http
