// What may be posted, and how it is written as JSON, read from JSON and shown as HTML.
#include <gtest/gtest.h>

#include <string>

#include "json.hpp"
#include "message.hpp"
#include "pages.hpp"

namespace board {
namespace {

faults wrong_with(std::string_view name, std::string_view text) {
    const auto checked = draft::check(name, text);
    return checked ? faults() : checked.error();
}

std::string times(std::size_t count, std::string_view what) {
    std::string out;
    while (count-- > 0) out += what;
    return out;
}

TEST(draft, takes_what_is_within_the_limits) {
    const auto checked = draft::check("  Ada ", "\n one\r\n\ttwo \xF0\x9F\x90\xA6\n");
    ASSERT_TRUE(checked.has_value());
    EXPECT_EQ(checked->name(), "Ada");
    EXPECT_EQ(checked->text(), "one\n\ttwo \xF0\x9F\x90\xA6");
}

TEST(draft, counts_characters_and_not_bytes) {
    const std::string bird = "\xF0\x9F\x90\xA6";
    EXPECT_EQ(wrong_with(times(40, bird), times(1000, bird)).text, "");
    EXPECT_EQ(wrong_with(times(41, bird), "x").name, "The name has 41 characters; 40 are the most.");
    EXPECT_EQ(wrong_with("x", times(1001, "\xC3\xA9")).text, "The message has 1001 characters; 1000 are the most.");
}

TEST(draft, tells_of_both_fields) {
    const faults found = wrong_with(" ", "\r\n");
    EXPECT_EQ(found.name, "Please write a name.");
    EXPECT_EQ(found.text, "Please write a message.");
}

TEST(draft, refuses_control_characters) {
    for (const char* text : {"a\x01", "a\x7F", "a\x1B[31m", "a\rb", "\xC2\x85"}) EXPECT_NE(wrong_with("x", text).text, "") << text;
    EXPECT_NE(wrong_with("x", std::string_view("a\0b", 3)).text, "");
    EXPECT_NE(wrong_with("a\nb", "x").name, "");
    EXPECT_NE(wrong_with("a\tb", "x").name, "");
}

TEST(draft, refuses_what_is_no_utf8) {
    for (const char* text : {"\x80", "\xC3", "\xC3(", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80",
                             "\xF8\x88\x80\x80\x80", "\xFF", "a\xE2\x82"}) {
        EXPECT_EQ(wrong_with("x", text).text, "The message is not valid UTF-8.");
        EXPECT_EQ(wrong_with(text, "x").name, "The name is not valid UTF-8.");
    }
    for (const char* text :
         {"\xC2\xA0", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
        EXPECT_EQ(wrong_with("x", text).text, "");
}

message sample(std::string name, std::string text) {
    message m;
    m.id = 7;
    m.posted_at = 1796068383;
    m.name = std::move(name);
    m.text = std::move(text);
    return m;
}

TEST(json, writes_what_it_reads) {
    const std::string name = "\"A\\da\" \xC3\xA9", text = "one\n\ttwo </script>";
    const std::string written = to_json(sample(name, text));
    EXPECT_TRUE(written.starts_with(R"({"id":7,"posted_at":"2026-11-30T19:53:03Z","name":"\"A\\da\" )")) << written;
    const auto read = read_json(written);
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(read->name, name);
    EXPECT_EQ(read->text, text);
}

TEST(json, says_what_is_wrong) {
    EXPECT_TRUE(read_json("{").error().starts_with("The content is not valid JSON: "));
    EXPECT_TRUE(read_json("").error().starts_with("The content is not valid JSON: "));
    EXPECT_TRUE(read_json("{\"name\":\"a\",\"text\":\"\xFF\"}").error().starts_with("The content is not valid JSON: "));
    EXPECT_TRUE(read_json(times(100000, "[")).error().starts_with("The content is not valid JSON: "));
    EXPECT_EQ(read_json("[]").error(), "A message is a JSON object with \"name\" and \"text\".");
    EXPECT_EQ(read_json(R"({"text":"x"})").error(), "\"name\" is missing, or is not a string.");
    EXPECT_EQ(read_json(R"({"name":"x","text":1})").error(), "\"text\" is missing, or is not a string.");
}

TEST(json, keeps_a_zero_byte_for_the_check) {
    const auto read = read_json(R"({"name":"a\u0000b","text":"x"})");
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->name.size(), 3u);
    EXPECT_NE(wrong_with(read->name, read->text).name, "");
}

TEST(pages, escape_what_was_written) {
    const std::string shown = page({sample("<b>\"'&", "</p><script>alert(1)</script>")});
    EXPECT_NE(shown.find("&lt;b&gt;&quot;&#39;&amp;"), shown.npos);
    EXPECT_NE(shown.find("&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), shown.npos);
    EXPECT_EQ(shown.find("<script>"), shown.npos);
    EXPECT_NE(shown.find("data-newest=\"7\""), shown.npos);
}

TEST(pages, do_not_take_what_was_written_for_a_part_of_the_template) {
    EXPECT_NE(page({sample("{{name}}", "{{nothing}}")}).find("{{nothing}}"), std::string::npos);
}

TEST(pages, show_an_attempt_again) {
    attempt tried;
    tried.what.name = "\"><i>";
    tried.what.text = "\n</textarea>";
    tried.wrong.text = "Too long.";
    const std::string shown = page({}, tried);
    EXPECT_NE(shown.find("value=\"&quot;&gt;&lt;i&gt;\""), shown.npos);
    EXPECT_NE(shown.find("\n\n&lt;/textarea&gt;</textarea>"), shown.npos);
    EXPECT_NE(shown.find("Too long."), shown.npos);
    EXPECT_NE(shown.find("aria-invalid=\"true\""), shown.npos);
}

}  // namespace
}  // namespace board
