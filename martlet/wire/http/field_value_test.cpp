#include <martlet/wire/http/content_type.hpp>
#include <martlet/wire/http/field_value.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

TEST(token, is_made_of_token_bytes_only) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text(1, static_cast<char>(byte));
        const bool expected =
            byte != 0 && byte < 0x80 &&
            std::string_view("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz").find(text[0]) !=
                std::string_view::npos;
        EXPECT_EQ(token::make(text).has_value(), expected) << byte;
    }
    EXPECT_FALSE(token::make(""));
    EXPECT_FALSE(token::make("a b"));
    EXPECT_EQ(token::make("X-A")->text(), "X-A");
    EXPECT_EQ(token::literal("X-A").text(), "X-A");
    EXPECT_EQ(token::make("").error().who(), blame::local);
}

TEST(field_value, holds_no_byte_that_could_end_it) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text = std::string("a") + static_cast<char>(byte) + "b";
        const bool expected = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
        EXPECT_EQ(field_value::make(text).has_value(), expected) << byte;
    }
    EXPECT_FALSE(field_value::make("a\r\nSet-Cookie: b"));
    EXPECT_FALSE(field_value::make(" a"));
    EXPECT_FALSE(field_value::make("a\t"));
    EXPECT_TRUE(field_value::make(""));
    EXPECT_EQ(field_value::make("a\xc3\xa9")->text(), "a\xc3\xa9");
    EXPECT_EQ(field_value::make("a\n").error().who(), blame::local);
}

TEST(content_type, by_id_or_by_value) {
    EXPECT_EQ(content_type().id(), media::none);
    EXPECT_EQ(content_type(media::json).id(), media::json);
    const content_type own(field_value::literal("application/x-own"));
    EXPECT_EQ(own.id(), media::custom);
    EXPECT_EQ(own.value(), "application/x-own");
    for (int id = 1; id < static_cast<int>(media::custom); ++id) EXPECT_TRUE(field_value::make(text(static_cast<media>(id)))) << id;
}

}  // namespace
}  // namespace martlet::http
