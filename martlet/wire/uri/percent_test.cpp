#include <martlet/wire/uri/percent.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/uri/error.hpp>

namespace martlet::uri {
namespace {

constexpr component components[] = {component::value,      component::segment, component::path, component::query,
                                    component::query_part, component::user,    component::form, component::reference};

TEST(percent, every_byte_is_decoded_in_either_case) {
    for (int byte = 0; byte < 256; ++byte) {
        char text[4];
        std::snprintf(text, sizeof(text), "%%%02x", static_cast<unsigned>(byte));
        EXPECT_EQ(decode(text).value(), std::string(1, static_cast<char>(byte)));
        std::snprintf(text, sizeof(text), "%%%02X", static_cast<unsigned>(byte));
        EXPECT_EQ(decode(text).value(), std::string(1, static_cast<char>(byte)));
    }
}

TEST(percent, bad_escapes_are_errors) {
    for (const std::string_view text : {"%", "%4", "a%", "a%4", "%4g", "%g4", "%%41", "%u0041", "%-1", "% 1", "%\xc3\xa9"}) {
        std::string space;
        ASSERT_FALSE(decode(text)) << text;
        EXPECT_EQ(decode(text).error(), make_error(errc::bad_escape, blame::peer));
        EXPECT_EQ(decode(text).error().http_status(), 400);
        EXPECT_FALSE(decode(text, space)) << text;
        EXPECT_FALSE(is_well_escaped(text)) << text;
        EXPECT_FALSE(decodes_to(text, text)) << text;
    }
    EXPECT_TRUE(is_well_escaped("a%41%fF"));
}

TEST(percent, reads_nothing_behind_the_end) {
    const std::string_view whole = "%41%42";
    for (const std::size_t cut : {1u, 2u, 4u, 5u}) {
        EXPECT_FALSE(decode(whole.substr(0, cut))) << cut;
        EXPECT_FALSE(is_well_escaped(whole.substr(0, cut))) << cut;
        EXPECT_FALSE(decodes_to(whole.substr(0, cut), "AB")) << cut;
    }
}

TEST(percent, decodes_once) {
    EXPECT_EQ(decode("%2541").value(), "%41");
    EXPECT_EQ(decode("..%252f").value(), "..%2f");
}

TEST(percent, plus_is_a_space_only_when_asked) {
    EXPECT_EQ(decode("a+b%2B").value(), "a+b+");
    EXPECT_EQ(decode("a+b%2B", plus_sign::space).value(), "a b+");
}

TEST(percent, borrows_what_needs_no_decoding) {
    std::string space = "untouched";
    const std::string_view text = "plain+text";
    EXPECT_EQ(decode(text, space)->data(), text.data());
    EXPECT_EQ(space, "untouched");
    EXPECT_EQ(decode(text, space, plus_sign::space)->data(), space.data());
    EXPECT_EQ(space, "plain text");
}

TEST(percent, what_is_decoded_is_added_whole_or_not_at_all) {
    std::string out = "before ";
    EXPECT_TRUE(append_decoded(out, "a%20b+c", plus_sign::space));
    EXPECT_EQ(out, "before a b c");
    EXPECT_TRUE(append_decoded(out, "+", plus_sign::literal));
    EXPECT_TRUE(append_decoded(out, ""));
    EXPECT_EQ(out, "before a b c+");
    for (const char* bad : {"lost%", "lost%2", "lost%2g", "lost%g2more"}) {
        EXPECT_FALSE(append_decoded(out, bad)) << bad;
        EXPECT_EQ(out, "before a b c+") << bad;
    }
}

TEST(percent, compares_without_decoding) {
    EXPECT_TRUE(decodes_to("a%20b", "a b"));
    EXPECT_TRUE(decodes_to("a+b", "a b", plus_sign::space));
    EXPECT_FALSE(decodes_to("a+b", "a b"));
    EXPECT_FALSE(decodes_to("a", "ab"));
    EXPECT_FALSE(decodes_to("ab", "a"));
    EXPECT_TRUE(decodes_to("", ""));
    EXPECT_TRUE(decodes_to("%C3%A9", "\xc3\xa9"));
}

TEST(percent, encodes_what_may_not_stand_there) {
    const std::string_view ascii = " !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\x7f\xe9";
    EXPECT_EQ(encode(ascii, component::value),
              "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F09%3A%3B%3C%3D%3E%3F%40AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::segment), "%20!%22%23$%25&'()*+,-.%2F09:;%3C=%3E%3F@AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::path), "%20!%22%23$%25&'()*+,-./09:;%3C=%3E%3F@AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::query), "%20!%22%23$%25&'()*+,-./09:;%3C=%3E?@AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::query_part), "%20!%22%23$%25%26'()*%2B,-./09:;%3C%3D%3E?@AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::user), "%20!%22%23$%25&'()*+,-.%2F09%3A;%3C=%3E%3F%40AZ%5B%5C%5D%5E_%60az%7B%7C%7D~%7F%E9");
    EXPECT_EQ(encode(ascii, component::form),
              "+%21%22%23%24%25%26%27%28%29*%2B%2C-.%2F09%3A%3B%3C%3D%3E%3F%40AZ%5B%5C%5D%5E_%60az%7B%7C%7D%7E%7F%E9");
    EXPECT_EQ(encode(ascii, component::reference), "%20!%22#$%&'()*+,-./09:;%3C=%3E?@AZ[%5C]%5E_%60az%7B%7C%7D~%7F%E9");
}

TEST(percent, what_is_encoded_decodes_to_itself) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const component where : components) {
        if (where == component::reference) continue;
        const plus_sign plus = where == component::form ? plus_sign::space : plus_sign::literal;
        EXPECT_EQ(decode(encode(all, where), plus).value(), all);
        EXPECT_TRUE(decodes_to(encode(all, where), all, plus));
    }
    EXPECT_EQ(encode(encode(all, component::value), component::reference), encode(all, component::value));
}

}  // namespace
}  // namespace martlet::uri
