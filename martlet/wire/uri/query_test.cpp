#include <martlet/wire/uri/query.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::uri {
namespace {

std::string told(std::string_view text) {
    std::string out;
    for (const query_pair& pair : query_view(text)) {
        out += "[" + std::string(pair.raw_name()) + (pair.has_value() ? "=" : "") + std::string(pair.raw_value()) + "]";
    }
    return out;
}

TEST(query_view, pairs_in_order) {
    EXPECT_EQ(told(""), "");
    EXPECT_EQ(told("&&&"), "");
    EXPECT_EQ(told("a"), "[a]");
    EXPECT_EQ(told("a="), "[a=]");
    EXPECT_EQ(told("=b"), "[=b]");
    EXPECT_EQ(told("="), "[=]");
    EXPECT_EQ(told("a=1&b=2&a=3"), "[a=1][b=2][a=3]");
    EXPECT_EQ(told("&a=1&&b==2&"), "[a=1][b==2]");
    EXPECT_EQ(told("a;b=1"), "[a;b=1]");
    EXPECT_TRUE(query_view("&").is_empty());
    EXPECT_FALSE(query_view("a").is_empty());
}

TEST(query_view, decodes_when_asked) {
    const query_view query("first+name=J%C3%B6rg&bad=%zz&%zz=x&plain=1%2B1");
    EXPECT_EQ(query.find("first name")->value().value(), "J\xc3\xb6rg");
    EXPECT_EQ(query.find("plain")->value().value(), "1+1");
    EXPECT_FALSE(query.find("bad")->value());
    EXPECT_FALSE(query.find("%zz"));
    EXPECT_FALSE(query.find("none"));
    std::string space;
    const auto value = query_view("a=borrowed").find("a")->value(space);
    EXPECT_EQ(*value, "borrowed");
    EXPECT_TRUE(space.empty());
}

TEST(query_view, finds_the_first_of_a_name_and_names_without_value) {
    EXPECT_EQ(query_view("a=1&a=2").find("a")->raw_value(), "1");
    EXPECT_FALSE(query_view("a&a=2").find("a")->has_value());
    EXPECT_EQ(query_view("=x").find("")->raw_value(), "x");
}

TEST(query_view, iterators_are_forward) {
    const query_view query("a=1&b=2");
    auto at = query.begin();
    const auto first = at++;
    EXPECT_EQ(first->raw_name(), "a");
    EXPECT_EQ(at->raw_name(), "b");
    EXPECT_NE(first, at);
    EXPECT_EQ(first, query.begin());
    EXPECT_EQ(++at, query.end());
}

TEST(query_view, a_percent_sign_at_the_end_reads_nothing_behind_it) {
    const std::string text = "q=%";
    const query_view query{std::string_view(text.data(), 3)};
    EXPECT_FALSE(query.find("q")->value());
}

}  // namespace
}  // namespace martlet::uri
