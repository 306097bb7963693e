#include <martlet/server/input.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace martlet::server {

/// A type of a program's own.
struct color {
    int number;
};

template <>
struct from_text<color> {
    static constexpr std::string_view rule = "must be red or blue";
    static std::optional<color> read(std::string_view text) noexcept {
        if (text == "red") return color{1};
        if (text == "blue") return color{2};
        return std::nullopt;
    }
};

namespace {

TEST(input_errors, say_source_name_and_rule) {
    const error one = input_error(input_source::query, "n", "must be a number");
    EXPECT_EQ(one.text(), "query parameter \"n\" must be a number");
    EXPECT_EQ(one.http_status(), 400);
    EXPECT_TRUE(one.is_peer());
    EXPECT_EQ(one, input_error(input_source::query, "n", "must be a number"));
    EXPECT_NE(one, input_error(input_source::query, "m", "must be a number"));
    EXPECT_NE(one, input_error(input_source::cookie, "n", "must be a number"));
    EXPECT_NE(one, input_error(input_source::query, "n", "must be text"));
    EXPECT_EQ(input_error(input_source::form, "a", "b").text(), "form field \"a\" b");
    EXPECT_EQ(input_error(input_source::cookie, "a", "b").text(), "cookie \"a\" b");
    EXPECT_EQ(input_error(input_source::field, "a", "b").text(), "field \"a\" b");
    EXPECT_EQ(input_error(input_source::path, "a", "b").text(), "path parameter \"a\" b");
    EXPECT_EQ(input_error(input_source::path, std::string(1000, 'n'), "b").text(), "a part of the request is not as it must be");
}

TEST(input_values, own_types_are_read_as_they_say) {
    EXPECT_EQ(detail::value_of<color>(input_source::query, "c", "blue")->number, 2);
    EXPECT_EQ(detail::value_of<color>(input_source::query, "c", "green").error().text(), "query parameter \"c\" must be red or blue");
}

TEST(input_values, whole_numbers_end_where_their_type_ends) {
    EXPECT_EQ(from_text<signed char>::read("-128"), -128);
    EXPECT_EQ(from_text<signed char>::read("-129"), std::nullopt);
    EXPECT_EQ(from_text<signed char>::read("127"), 127);
    EXPECT_EQ(from_text<signed char>::read("128"), std::nullopt);
    EXPECT_EQ(from_text<short>::read("-32768"), -32768);
    EXPECT_EQ(from_text<short>::read("32768"), std::nullopt);
    EXPECT_EQ(from_text<long>::read("-9223372036854775808"), std::numeric_limits<long>::min());
    EXPECT_EQ(from_text<long>::read("9223372036854775808"), std::nullopt);
    EXPECT_EQ(from_text<unsigned>::read("4294967295"), 4294967295u);
    EXPECT_EQ(from_text<unsigned>::read("4294967296"), std::nullopt);
    EXPECT_EQ(from_text<unsigned>::read(""), std::nullopt);
    EXPECT_EQ(from_text<int>::read("-"), std::nullopt);
    EXPECT_EQ(from_text<int>::read("1 "), std::nullopt);
}

// In a process of its own, since nothing is ever forgotten.
TEST(input_errors_death, when_full_they_have_a_text_without_names) {
    const auto fill = [] {
        error last = input_error(input_source::query, "first", "r");
        for (std::size_t i = 0; i < input_errors_max; ++i) last = input_error(input_source::query, "name" + std::to_string(i), "r");
        const bool right = last.text() == "a part of the request is not as it must be" && last.http_status() == 400 &&
                           input_error(input_source::query, "first", "r").text() == "query parameter \"first\" r" &&
                           input_error(input_source::query, "name5", "r").text() == "query parameter \"name5\" r";
        std::_Exit(right ? 0 : 1);
    };
    EXPECT_EXIT(fill(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace martlet::server
