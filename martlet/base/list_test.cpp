#include <martlet/base/list.hpp>

#include <deque>
#include <list>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace martlet {
namespace {

struct second_tag;

struct item : list_hook<>, list_hook<second_tag> {
    explicit item(int number) : n(number) {}
    int n;
};

static_assert(!std::is_copy_constructible_v<item> && !std::is_move_constructible_v<list<item>>);

std::vector<int> numbers(list<item>& from) {
    std::vector<int> all;
    if (from.empty()) return all;
    for (item* i = &from.front(); i != nullptr; i = from.after(*i)) all.push_back(i->n);
    return all;
}

TEST(list, first_in_first_out) {
    list<item> l;
    EXPECT_TRUE(l.empty());
    EXPECT_EQ(l.pop_front(), nullptr);
    item a(1), b(2), c(3);
    l.push_back(a);
    l.push_back(b);
    l.push_front(c);
    EXPECT_EQ(numbers(l), (std::vector<int>{3, 1, 2}));
    EXPECT_EQ(l.pop_front(), &c);
    EXPECT_EQ(l.pop_front(), &a);
    EXPECT_EQ(l.pop_front(), &b);
    EXPECT_TRUE(l.empty());
}

TEST(list, leaving_from_anywhere) {
    list<item> l;
    std::deque<item> items;
    for (int i = 0; i < 5; ++i) l.push_back(items.emplace_back(i));
    const auto leave = [](item& i) { static_cast<list_hook<>&>(i).unlink(); };
    leave(items[2]);
    EXPECT_FALSE(static_cast<list_hook<>&>(items[2]).is_linked());
    leave(items[2]);
    leave(items[0]);
    leave(items[4]);
    EXPECT_EQ(numbers(l), (std::vector<int>{1, 3}));
    l.push_back(items[0]);
    EXPECT_EQ(numbers(l), (std::vector<int>{1, 3, 0}));
    while (l.pop_front() != nullptr) {
    }
}

TEST(list, one_object_in_lists_of_two_kinds) {
    list<item> first;
    list<item, second_tag> second;
    item a(1), b(2);
    first.push_back(a);
    first.push_back(b);
    second.push_back(b);
    second.push_back(a);
    EXPECT_EQ(first.pop_front(), &a);
    EXPECT_EQ(second.pop_front(), &b);
    EXPECT_EQ(first.pop_front(), &b);
    EXPECT_EQ(second.pop_front(), &a);
}

TEST(list, append_moves_all) {
    list<item> l, other;
    item a(1), b(2), c(3), d(4);
    l.append(other);
    other.push_back(a);
    other.push_back(b);
    l.append(other);
    EXPECT_TRUE(other.empty());
    EXPECT_EQ(numbers(l), (std::vector<int>{1, 2}));
    other.push_back(c);
    l.append(other);
    l.append(other);
    other.push_back(d);
    EXPECT_EQ(numbers(l), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(numbers(other), (std::vector<int>{4}));
    while (l.pop_front() != nullptr) {
    }
    EXPECT_EQ(other.pop_front(), &d);
}

TEST(list, does_as_a_standard_list_does) {
    std::minstd_rand random(11);
    std::deque<item> items;
    for (int i = 0; i < 40; ++i) items.emplace_back(i);
    list<item> l;
    std::list<int> model;
    for (int step = 0; step < 5000; ++step) {
        item& i = items[random() % items.size()];
        list_hook<>& hook = i;
        switch (random() % 4) {
        case 0:
            if (hook.is_linked()) break;
            l.push_back(i);
            model.push_back(i.n);
            break;
        case 1:
            if (hook.is_linked()) break;
            l.push_front(i);
            model.push_front(i.n);
            break;
        case 2:
            hook.unlink();
            model.remove(i.n);
            break;
        default:
            if (random() % 4 != 0) break;
            l.pop_front();
            if (!model.empty()) model.pop_front();
        }
        ASSERT_EQ(numbers(l), std::vector<int>(model.begin(), model.end()));
    }
    while (l.pop_front() != nullptr) {
    }
}

TEST(list_death_test, misuse_is_named) {
    EXPECT_DEATH(
        {
            list<item> l;
            item a(1);
            l.push_back(a);
            l.push_back(a);
        },
        "one list of a kind at a time");
    EXPECT_DEATH(
        {
            list<item> l;
            item a(1);
            l.push_back(a);
        },
        "must leave its list");
    EXPECT_DEATH(
        {
            static item a(1);
            list<item> l;
            l.push_back(a);
        },
        "must be empty");
}

}  // namespace
}  // namespace martlet
