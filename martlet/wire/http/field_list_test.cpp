#include <martlet/wire/http/field_list.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

std::string elements(std::string_view value) {
    std::string out;
    list_reader all(value);
    while (const auto one = all.next()) out += "[" + std::string(*one) + "]";
    return out;
}

std::string parameters(std::string_view text) {
    std::string out;
    parameter_reader all(text);
    while (const auto one = all.next()) {
        std::string space;
        EXPECT_EQ(one->value(), one->value(space));
        EXPECT_TRUE(one->is(one->value()));
        EXPECT_FALSE(one->is(one->value() + "x"));
        out += "[" + std::string(one->name()) + "=" + one->value() + "]";
    }
    return out + (all.is_good() ? "" : "!");
}

// RFC 9110 section 5.6.1.
TEST(list_reader, elements_between_commas) {
    EXPECT_EQ(elements(""), "");
    EXPECT_EQ(elements(" , ,\t,"), "");
    EXPECT_EQ(elements("foo,bar"), "[foo][bar]");
    EXPECT_EQ(elements("foo ,bar,"), "[foo][bar]");
    EXPECT_EQ(elements("foo , ,bar,charlie"), "[foo][bar][charlie]");
    EXPECT_EQ(elements("a;p=\"x,y\", b"), "[a;p=\"x,y\"][b]");
    EXPECT_EQ(elements("\"a\\\",b\",c"), "[\"a\\\",b\"][c]");
    EXPECT_EQ(elements("\"a,b"), "[\"a,b]");
    EXPECT_EQ(elements("\"a\\"), "[\"a\\]");
}

// RFC 9110 sections 5.6.4 and 5.6.6.
TEST(parameter_reader, names_with_values) {
    EXPECT_EQ(parameters(""), "");
    EXPECT_EQ(parameters(" ; ;; "), "");
    EXPECT_EQ(parameters(";a=1;B=2"), "[a=1][B=2]");
    EXPECT_EQ(parameters(" ;\ta=1 ; b=\"x y\""), "[a=1][b=x y]");
    EXPECT_EQ(parameters(";a=\"\""), "[a=]");
    EXPECT_EQ(parameters(";a=\"\\\"q\\\\\""), "[a=\"q\\]");
    EXPECT_EQ(parameters(";a=\"x;y\";b=2"), "[a=x;y][b=2]");
    for (const std::string_view bad :
         {"a=1", ";a", ";a=", ";=1", ";a =1", ";a= 1", ";a=\"x", ";a=\"x\\", ";a=x y", ";a=\"\x01\"", ";a=(x)", ";a=\"x\"y"}) {
        const std::string told = parameters(bad);
        EXPECT_TRUE(told.ends_with('!')) << bad << " " << told;
    }
}

TEST(parameter, compares_without_case) {
    EXPECT_TRUE(parameter("charset", "UTF-8").is("utf-8"));
    EXPECT_TRUE(parameter("charset", "\"utf-8\"").is("UTF-8"));
    EXPECT_TRUE(parameter("charset", "\"u\\tf\"").is("utf"));
    EXPECT_FALSE(parameter("charset", "utf-8").is("utf-"));
    EXPECT_FALSE(parameter("charset", "utf").is("utf-8"));
}

TEST(append_parameter_value, quotes_what_is_no_token) {
    const auto written = [](std::string_view text) {
        std::string out;
        return append_parameter_value(out, text) ? out : "refused" + out;
    };
    EXPECT_EQ(written("utf-8"), "utf-8");
    EXPECT_EQ(written(""), "\"\"");
    EXPECT_EQ(written("a b"), "\"a b\"");
    EXPECT_EQ(written("a\"\\"), "\"a\\\"\\\\\"");
    EXPECT_EQ(written("a\r\nb"), "refused");
}

}  // namespace
}  // namespace martlet::http
