#include <martlet/rt/channel.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;

TEST(Channel, GivesInTheOrderOfSending) {
    for (const std::size_t capacity : {0u, 1u, 3u, 100u}) {
        loop on;
        channel<int> c(capacity);
        std::vector<int> got;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([&]() -> task<> {
                    for (int i = 0; i < 50; ++i) {
                        const auto sent = co_await c.send(i);
                        EXPECT_TRUE(sent);
                        EXPECT_LE(c.size(), capacity);
                    }
                    c.close();
                });
                for (;;) {
                    const auto value = co_await c.receive();
                    if (!value) {
                        EXPECT_EQ(value.error(), channel_closed);
                        co_return;
                    }
                    got.push_back(*value);
                }
            });
        }());
        ASSERT_EQ(got.size(), 50u) << "capacity " << capacity;
        for (int i = 0; i < 50; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
    }
}

TEST(Channel, AFullOneMakesSendersWaitInOrder) {
    loop on;
    channel<std::string> c(1);
    std::string order;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (const char* text : {"a", "b", "c"}) {
                s.spawn([&, text]() -> task<> {
                    const auto sent = co_await c.send(text);
                    EXPECT_TRUE(sent);
                    order += text;
                });
            }
            co_await yield();
            EXPECT_EQ(order, "a");
            EXPECT_EQ(c.try_receive(), "a");
            EXPECT_EQ(c.try_receive(), "b");
            EXPECT_EQ(c.try_receive(), "c");
            EXPECT_FALSE(c.try_receive());
        });
    }());
    EXPECT_EQ(order, "abc");
}

TEST(Channel, TrySendLeavesTheValueAloneWhenItIsRefused) {
    channel<std::unique_ptr<int>> c(1);
    auto first_value = std::make_unique<int>(1);
    auto second_value = std::make_unique<int>(2);
    EXPECT_TRUE(c.try_send(first_value));
    EXPECT_EQ(first_value, nullptr);
    EXPECT_FALSE(c.try_send(second_value));
    ASSERT_NE(second_value, nullptr);
    c.close();
    EXPECT_FALSE(c.try_send(second_value));
    ASSERT_NE(second_value, nullptr);
    auto got = c.try_receive();
    ASSERT_TRUE(got) << "what was accepted before the close can still be received";
    EXPECT_EQ(**got, 1);
}

TEST(Channel, CloseRefusesThoseWhoWait) {
    loop on;
    channel<int> full(0);
    int refused = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (int i = 0; i < 3; ++i) {
                s.spawn([&]() -> task<> {
                    const auto sent = co_await full.send(1);
                    refused += !sent && sent.error() == channel_closed;
                });
            }
            co_await yield();
            full.close();
        });
        const auto late = co_await full.send(1);
        refused += !late && late.error() == channel_closed;
        const auto none = co_await full.receive();
        refused += !none && none.error() == channel_closed;
    }());
    EXPECT_EQ(refused, 5);
    EXPECT_TRUE(full.is_closed());
}

TEST(Channel, ARefusedSenderKeepsItsValue) {
    loop on;
    channel<std::unique_ptr<int>> c(0);
    on.run([&]() -> task<> {
        c.close();
        auto sending = c.send(std::make_unique<int>(5));
        const auto sent = co_await sending;
        EXPECT_FALSE(sent);
        EXPECT_NE(sending.value(), nullptr);
    }());
}

TEST(Channel, AReceiverThatWaitsGetsTheValueDirectly) {
    loop on;
    channel<int> c(0);
    int got = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                const auto value = co_await c.receive();
                got = value.value_or(-1);
            });
            int value = 9;
            EXPECT_TRUE(c.try_send(value));
            EXPECT_EQ(c.size(), 0u);
            co_return;
        });
    }());
    EXPECT_EQ(got, 9);
}

TEST(Channel, NoValueIsLostWhenReceiversAreCancelled) {
    // Receivers are cancelled at every distance from a value; each value sent is received by one of them or still in the channel.
    for (int cancel_after = 0; cancel_after < 12; ++cancel_after) {
        loop on;
        channel<int> c(2);
        int sent = 0;
        int received = 0;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([&]() -> task<> {
                    co_await in_scope([&](scope& receivers) -> task<> {
                        for (int i = 0; i < 3; ++i) {
                            receivers.spawn([&]() -> task<> {
                                for (;;) {
                                    const auto value = co_await c.receive();
                                    if (!value) co_return;
                                    ++received;
                                }
                            });
                        }
                        for (int i = 0; i < cancel_after; ++i) co_await yield();
                        receivers.cancel();
                    });
                });
                for (int i = 0; i < 10; ++i) {
                    int value = i;
                    sent += c.try_send(value);
                    if (i % 3 == 0) co_await yield();
                }
            });
        }());
        int left = 0;
        while (c.try_receive()) ++left;
        EXPECT_EQ(received + left, sent) << "cancelled after " << cancel_after;
    }
}

}  // namespace
