#include <martlet/server/field_block.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include <martlet/rt/loop.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::server {
namespace {

http::field_value value(std::string_view text) { return http::field_value::make(text).value(); }

TEST(field_block, holds_lines_in_wire_form) {
    field_block block;
    EXPECT_TRUE(block.empty());
    EXPECT_EQ(block.view(), "");
    EXPECT_TRUE(block.add("A", value("1")));
    EXPECT_TRUE(block.add("Longer-Name", value("")));
    EXPECT_TRUE(block.add("B", value("a longer value")));
    EXPECT_FALSE(block.empty());
    EXPECT_EQ(block.view(), "A: 1\r\nLonger-Name: \r\nB: a longer value\r\n");
}

TEST(field_block, grows_as_it_is_filled) {
    field_block block;
    std::string expected;
    for (int i = 0; expected.size() < 30'000; ++i) {
        const std::string text(static_cast<std::size_t>(i % 400), static_cast<char>('a' + i % 26));
        ASSERT_TRUE(block.add("X", value(text)));
        expected += "X: " + text + "\r\n";
        ASSERT_EQ(block.view(), expected);
    }
}

TEST(field_block, refuses_what_exceeds_its_bound_and_stays_as_it_was) {
    field_block block;
    EXPECT_TRUE(block.add("X", value("x")));
    EXPECT_FALSE(block.add("Y", value(std::string(field_block::bytes_max, 'y'))));
    EXPECT_EQ(block.view(), "X: x\r\n");
    // To the last byte.
    const std::size_t left = field_block::bytes_max - block.view().size() - 5;
    EXPECT_FALSE(block.add("Y", value(std::string(left + 1, 'y'))));
    EXPECT_TRUE(block.add("Y", value(std::string(left, 'y'))));
    EXPECT_EQ(block.view().size(), field_block::bytes_max);
    EXPECT_FALSE(block.add("Z", value("")));
}

TEST(field_block, gives_its_memory_to_the_one_it_is_moved_to) {
    field_block first;
    EXPECT_TRUE(first.add("A", value("1")));
    field_block second(std::move(first));
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.view(), "A: 1\r\n");
    EXPECT_TRUE(first.add("B", value("2")));
    EXPECT_EQ(first.view(), "B: 2\r\n");
    EXPECT_EQ(second.view(), "A: 1\r\n");
}

TEST(field_block, takes_its_memory_from_the_loop_that_runs) {
    loop on;
    on.run([](loop& here) -> task<> {
        const std::size_t before = here.frames_live();
        {
            field_block block;
            EXPECT_EQ(here.frames_live(), before);
            EXPECT_TRUE(block.add("A", value("1")));
            EXPECT_EQ(here.frames_live(), before + 1);
        }
        EXPECT_EQ(here.frames_live(), before);
        co_return;
    }(on));
}

std::string filled(field_block& block, std::initializer_list<std::pair<const char*, const char*>> lines) {
    for (const auto& [name, value] : lines) EXPECT_TRUE(block.add(name, *http::field_value::make(value)));
    return std::string(block.view());
}

TEST(field_block, finds_and_removes_by_name_without_case) {
    field_block block;
    EXPECT_EQ(block.find("A"), std::nullopt);
    EXPECT_EQ(block.remove("A"), 0u);
    filled(block, {{"Aa", "1"}, {"B", ""}, {"aA", "2"}, {"Aab", "3"}, {"C", "a: b"}});
    EXPECT_EQ(block.find("AA"), "1");
    EXPECT_EQ(block.find("b"), "");
    EXPECT_EQ(block.find("aab"), "3");
    EXPECT_EQ(block.find("c"), "a: b");
    for (const char* none : {"", "A", "Aa:", "1", "b:", "a"}) EXPECT_EQ(block.find(none), std::nullopt) << none;
    EXPECT_EQ(block.remove("AA"), 2u);
    EXPECT_EQ(block.view(), "B: \r\nAab: 3\r\nC: a: b\r\n");
    EXPECT_EQ(block.remove("c"), 1u);
    EXPECT_EQ(block.remove("b"), 1u);
    EXPECT_EQ(block.remove("b"), 0u);
    EXPECT_EQ(block.remove("aab"), 1u);
    EXPECT_TRUE(block.empty());
}

TEST(field_block, replaces_all_lines_of_a_name_or_none) {
    field_block block;
    filled(block, {{"A", "1"}, {"B", "2"}, {"a", "3"}});
    EXPECT_TRUE(block.replace("A", *http::field_value::make("4")));
    EXPECT_EQ(block.view(), "B: 2\r\nA: 4\r\n");
    const std::string large(field_block::bytes_max, 'x');
    EXPECT_FALSE(block.replace("B", *http::field_value::make(large)));
    EXPECT_EQ(block.view(), "B: 2\r\nA: 4\r\n");
}

}  // namespace
}  // namespace martlet::server
