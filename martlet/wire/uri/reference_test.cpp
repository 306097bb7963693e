#include <martlet/wire/uri/reference.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/uri/error.hpp>

namespace martlet::uri {
namespace {

// scheme|userinfo|authority|path|query|fragment, '-' for what is not there; the error's text when refused.
std::string told(std::string_view text) {
    const auto parts = reference::parse(text);
    if (!parts) return std::string(parts.error().text());
    const auto shown = [](std::optional<std::string_view> part) { return std::string(part.value_or("-")); };
    return shown(parts->scheme()) + "|" + shown(parts->userinfo()) + "|" + shown(parts->authority()) + "|" + std::string(parts->path()) +
           "|" + shown(parts->query()) + "|" + shown(parts->fragment());
}

std::string resolved(std::string_view base, std::string_view relative) {
    return resolve(reference::parse(base).value(), reference::parse(relative).value()).value();
}

// RFC 3986 section 1.1.2 and 3.
TEST(reference, has_five_parts) {
    EXPECT_EQ(told("foo://example.com:8042/over/there?name=ferret#nose"), "foo|-|example.com:8042|/over/there|name=ferret|nose");
    EXPECT_EQ(told("urn:example:animal:ferret:nose"), "urn|-|-|example:animal:ferret:nose|-|-");
    EXPECT_EQ(told("ftp://ftp.is.co.za/rfc/rfc1808.txt"), "ftp|-|ftp.is.co.za|/rfc/rfc1808.txt|-|-");
    EXPECT_EQ(told("mailto:John.Doe@example.com"), "mailto|-|-|John.Doe@example.com|-|-");
    EXPECT_EQ(told("telnet://192.0.2.16:80/"), "telnet|-|192.0.2.16:80|/|-|-");
    EXPECT_EQ(told("file:///etc/hosts"), "file|-||/etc/hosts|-|-");
    EXPECT_EQ(told("http://u:p@h:1?#"), "http|u:p|h:1|||");
    EXPECT_EQ(told("http://[::1]:80/"), "http|-|[::1]:80|/|-|-");
    EXPECT_EQ(told(""), "-|-|-||-|-");
    EXPECT_EQ(told("?q"), "-|-|-||q|-");
    EXPECT_EQ(told("#f"), "-|-|-||-|f");
    EXPECT_EQ(told("//h"), "-|-|h||-|-");
    EXPECT_EQ(told("a/b:c"), "-|-|-|a/b:c|-|-");
    EXPECT_EQ(told("?a?b/c#d?e/f"), "-|-|-||a?b/c|d?e/f");
}

TEST(reference, refuses_what_the_grammar_has_not) {
    const std::string byte(make_error(errc::bad_byte, blame::peer).text());
    const std::string escape(make_error(errc::bad_escape, blame::peer).text());
    const std::string scheme(make_error(errc::bad_scheme, blame::peer).text());
    const std::string authority(make_error(errc::bad_authority, blame::peer).text());
    for (const std::string_view text : {"a b", "a\tb", "a\\b", "a|b", "a^b", "a<b", "a\"b", "{", "\xc3\xa9", "a[b]", "?[", "#a#b", "?\n"}) {
        EXPECT_EQ(told(text), byte) << text;
    }
    EXPECT_EQ(told(std::string_view("a\0b", 3)), byte);
    for (const std::string_view text : {"%", "a%4", "?%zz", "#%g0", "http://u%@h/"}) EXPECT_EQ(told(text), escape) << text;
    EXPECT_EQ(told(std::string_view("a%41", 3)), escape) << "cut before the last digit";
    for (const std::string_view text : {":", ":a", "1a:b", "a_b:c", "-a:b"}) EXPECT_EQ(told(text), scheme) << text;
    for (const std::string_view text : {"//a:b", "//a:65536", "//[", "//[::g]", "//a,b", "//u@", "//a@b@c", "//a b", "//%zz"}) {
        EXPECT_EQ(told(text), authority) << text;
    }
}

// RFC 3986 section 5.4.1 and 5.4.2.
TEST(resolve, the_examples_of_the_rfc) {
    constexpr std::string_view base = "http://a/b/c/d;p?q";
    constexpr std::string_view cases[][2] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g#s/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"http:g", "http:g"},
    };
    for (const auto& [relative, expected] : cases) EXPECT_EQ(resolved(base, relative), expected) << relative;
}

TEST(resolve, bases_of_other_shapes) {
    EXPECT_EQ(resolved("http://h", "g"), "http://h/g");
    EXPECT_EQ(resolved("http://h?q", "g"), "http://h/g");
    EXPECT_EQ(resolved("http://u@h:1/a", "/g"), "http://u@h:1/g");
    EXPECT_EQ(resolved("http://u@h:1/a", "//g"), "http://g");
    EXPECT_EQ(resolved("file:///a/b", "c"), "file:///a/c");
    EXPECT_EQ(resolved("s:a/b", "../c"), "s:/c");
    // No authority comes out of a path.
    EXPECT_EQ(resolved("s:/a", "/.//b"), "s:/.//b");
    EXPECT_EQ(resolve(reference::parse("/a").value(), reference::parse("b").value()).error(), make_error(errc::bad_scheme, blame::local));
}

// RFC 3986 section 5.2.4.
TEST(dot_segments, are_removed) {
    constexpr std::string_view cases[][2] = {
        {"/a/b/c/./../../g", "/a/g"},
        {"mid/content=5/../6", "mid/6"},
        {"", ""},
        {".", ""},
        {"..", ""},
        {"../a", "a"},
        {"./../a", "a"},
        {"/", "/"},
        {"/.", "/"},
        {"/..", "/"},
        {"/a/..", "/"},
        {"/a/.", "/a/"},
        {"//..", "/"},
        {"/a//../b", "/a/b"},
        {"a/..", "/"},
        {"/...", "/..."},
        {"/.a", "/.a"},
        {"/a./b", "/a./b"},
    };
    for (const auto& [path, expected] : cases) {
        std::string out = "before/";
        append_without_dot_segments(out, path);
        EXPECT_EQ(out, "before/" + std::string(expected)) << path;
    }
}

}  // namespace
}  // namespace martlet::uri
