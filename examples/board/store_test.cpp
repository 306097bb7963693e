// The store and the feed: what was added is there after a restart, in the order of ids, and reaches the tails of all loops.
#include "store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "feed.hpp"

namespace board {
namespace {

using martlet::loop;

/// A directory of its own, removed at the end.
class store_test : public testing::Test {
protected:
    store_test() {
        directory_ = testing::TempDir() + "martlet-board-XXXXXX";
        EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    }
    ~store_test() override {
        for (const char* each : {"/db", "/db-wal", "/db-shm"}) std::remove((directory_ + each).c_str());
        std::remove(directory_.c_str());
    }
    std::string file() const { return directory_ + "/db"; }

    message add(store& to, std::string_view name, std::string_view text) {
        auto made = on_.run(to.add(*draft::check(name, text)));
        EXPECT_TRUE(made.has_value()) << made.error().text();
        return made.value_or(message());
    }
    std::string texts(martlet::task<martlet::result<std::vector<message>>> asked) {
        auto found = on_.run(std::move(asked));
        EXPECT_TRUE(found.has_value()) << found.error().text();
        std::string all;
        for (const message& m : found.value_or(std::vector<message>())) all += (all.empty() ? "" : " ") + m.text;
        return all;
    }

    loop on_;
    std::string directory_;
};

TEST_F(store_test, gives_ids_in_order_and_finds_what_was_added) {
    store kept;
    ASSERT_TRUE(kept.open(file()).has_value()) << kept.what();
    const message first = add(kept, "Ada", "one");
    EXPECT_EQ(first.name, "Ada");
    EXPECT_GT(first.posted_at, 1'700'000'000);
    EXPECT_EQ(add(kept, "Bo", "two").id, first.id + 1);
    add(kept, "Cy", "three");
    EXPECT_EQ(texts(kept.after(0, 10)), "one two three");
    EXPECT_EQ(texts(kept.after(first.id, 10)), "two three");
    EXPECT_EQ(texts(kept.after(first.id, 1)), "two");
    EXPECT_EQ(texts(kept.newest(2)), "two three");
    EXPECT_EQ(texts(kept.after(first.id + 2, 10)), "");
}

TEST_F(store_test, keeps_messages_over_a_restart) {
    std::int64_t id = 0;
    {
        store kept;
        ASSERT_TRUE(kept.open(file()).has_value());
        id = add(kept, "Ada", "it's; -- \xF0\x9F\x90\xA6").id;
    }
    store kept;
    ASSERT_TRUE(kept.open(file()).has_value());
    EXPECT_EQ(texts(kept.after(0, 10)), "it's; -- \xF0\x9F\x90\xA6");
    EXPECT_EQ(add(kept, "Ada", "more").id, id + 1);
}

TEST_F(store_test, says_what_is_wrong_with_a_file) {
    store nowhere;
    EXPECT_FALSE(nowhere.open(directory_ + "/missing/db").has_value());
    EXPECT_EQ(nowhere.what(), "cannot use " + directory_ + "/missing/db as the database: unable to open database file");

    std::FILE* other = std::fopen(file().c_str(), "w");
    for (int i = 0; i < 100; ++i) std::fputs("this is a letter, and no database\n", other);
    std::fclose(other);
    store letter;
    EXPECT_FALSE(letter.open(file()).has_value());
    EXPECT_NE(letter.what().find("not a database"), std::string::npos) << letter.what();
}

TEST_F(store_test, has_its_file_for_itself) {
    store kept;
    ASSERT_TRUE(kept.open(file()).has_value());
    store second;
    EXPECT_FALSE(second.open(file(), std::chrono::milliseconds(1)).has_value());
    EXPECT_NE(second.what().find("locked"), std::string::npos) << second.what();
}

TEST_F(store_test, adds_a_message_though_its_sender_has_gone) {
    store kept;
    ASSERT_TRUE(kept.open(file()).has_value());
    const draft what = *draft::check("Ada", "one");
    on_.run(martlet::in_scope([&](martlet::scope& request) -> martlet::task<> {
        request.cancel(martlet::cancel_reason::peer_gone);
        auto made = co_await kept.add(what);
        EXPECT_TRUE(made.has_value());
    }));
    EXPECT_EQ(texts(kept.newest(10)), "one");
}

TEST_F(store_test, tells_of_each_message_in_order) {
    std::string told;
    store kept;
    kept.listen([&](const message& m) { told += m.text; });
    ASSERT_TRUE(kept.open(file()).has_value());
    for (const char* text : {"a", "b", "c"}) add(kept, "Ada", text);
    EXPECT_EQ(told, "abc");
}

TEST_F(store_test, news_that_come_while_the_store_is_read_are_not_slept_over) {
    feed news;
    std::atomic<bool> told{false};
    store kept;
    kept.listen([&](const message& m) {
        news.publish(m);
        told = true;
    });
    ASSERT_TRUE(kept.open(file()).has_value());
    const auto latest = news.join(on_);
    const draft what = *draft::check("Ada", "one");
    on_.run(martlet::in_scope([&](martlet::scope& jobs) -> martlet::task<> {
        jobs.spawn([&]() -> martlet::task<> {
            auto found = co_await martlet::within(std::chrono::seconds(30), news_after(0, *latest, kept));
            EXPECT_EQ(found.value_or(notices()).size(), 1u) << "it sleeps";
        });
        jobs.spawn([&]() -> martlet::task<> {
            auto added = co_await kept.add(what);
            EXPECT_TRUE(added.has_value());
        });
        // Both answers of the store's thread are there before the loop turns again: nothing was found, and then something was added.
        while (!told) std::this_thread::yield();
        co_return;
    }));
}

message numbered(std::int64_t id) {
    message m;
    m.id = id;
    m.name = "Ada";
    m.text = std::to_string(id);
    return m;
}

std::string ids(const notices& found) {
    std::string all;
    for (const auto& each : found) all += (all.empty() ? "" : " ") + std::to_string(each->id());
    return all;
}

std::shared_ptr<const notice> noticed(std::int64_t id) { return std::make_shared<const notice>(numbered(id)); }

TEST(tail, gives_what_came_after_a_place) {
    tail heard;
    notices found;
    EXPECT_FALSE(heard.after(0, found));
    heard.add(4, noticed(5));
    heard.add(5, noticed(7));
    EXPECT_FALSE(heard.after(3, found)) << "what came between 3 and 5 is not known here";
    EXPECT_TRUE(heard.after(4, found));
    EXPECT_EQ(ids(found), "5 7");
    found.clear();
    EXPECT_TRUE(heard.after(7, found));
    EXPECT_EQ(ids(found), "");
    EXPECT_EQ(heard.heard(), 2u);
}

TEST(tail, begins_anew_after_one_that_it_missed) {
    tail heard;
    notices found;
    heard.add(0, noticed(1));
    heard.add(2, noticed(3));
    EXPECT_FALSE(heard.after(1, found));
    EXPECT_TRUE(heard.after(2, found));
    EXPECT_EQ(ids(found), "3");
}

TEST(tail, is_bounded) {
    tail heard;
    notices found;
    constexpr auto most = static_cast<std::int64_t>(tail::kept_max);
    for (std::int64_t id = 1; id <= most + 2; ++id) heard.add(id - 1, noticed(id));
    EXPECT_FALSE(heard.after(1, found));
    EXPECT_TRUE(heard.after(2, found));
    EXPECT_EQ(found.size(), tail::kept_max);
    EXPECT_EQ(found.front()->id(), 3);
    EXPECT_EQ(found.back()->id(), most + 2);
}

TEST(feed, wakes_the_streams_of_a_loop) {
    loop on;
    feed news;
    on.run([](feed& from, loop& here) -> martlet::task<> {
        const auto heard = from.join(here);
        from.publish(numbered(1));
        from.publish(numbered(2));
        EXPECT_EQ(heard->heard(), 0u) << "it is heard of in a later turn";
        while (heard->heard() < 2) {
            auto woken = co_await heard->changed();
            EXPECT_TRUE(woken.has_value());
        }
        notices found;
        EXPECT_TRUE(heard->after(0, found));
        EXPECT_EQ(ids(found), "1 2");
    }(news, on));
}

TEST(feed, forgets_tails_that_are_gone) {
    loop on;
    feed news;
    news.join(on).reset();
    news.publish(numbered(1));
}

}  // namespace
}  // namespace board
