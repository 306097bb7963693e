#include <martlet/server/limits.hpp>

#include <gtest/gtest.h>

#include <chrono>

#include <martlet/server/options.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;

TEST(limits, each_setter_sets_its_own_number) {
    const limits given = limits()
                             .request_line_bytes_max(1)
                             .head_bytes_max(2)
                             .fields_max(3)
                             .field_bytes_max(4)
                             .first_byte_timeout(5s)
                             .head_timeout(6s)
                             .idle_timeout(7s)
                             .write_timeout(8s)
                             .requests_max(9)
                             .linger_bytes_max(10)
                             .linger_timeout(11s)
                             .slice_requests_max(12)
                             .flush_bytes(13)
                             .accepts_per_turn_max(14)
                             .connections_max(15)
                             .drain_timeout(16s)
                             .unsent_bytes_max(17);
    EXPECT_EQ(given.request_line_bytes_max(), 1u);
    EXPECT_EQ(given.head_bytes_max(), 2u);
    EXPECT_EQ(given.fields_max(), 3u);
    EXPECT_EQ(given.field_bytes_max(), 4u);
    EXPECT_EQ(given.first_byte_timeout(), 5s);
    EXPECT_EQ(given.head_timeout(), 6s);
    EXPECT_EQ(given.idle_timeout(), 7s);
    EXPECT_EQ(given.write_timeout(), 8s);
    EXPECT_EQ(given.requests_max(), 9u);
    EXPECT_EQ(given.linger_bytes_max(), 10u);
    EXPECT_EQ(given.linger_timeout(), 11s);
    EXPECT_EQ(given.slice_requests_max(), 12u);
    EXPECT_EQ(given.flush_bytes(), 13u);
    EXPECT_EQ(given.accepts_per_turn_max(), 14u);
    EXPECT_EQ(given.connections_max(), 15u);
    EXPECT_EQ(given.drain_timeout(), 16s);
    EXPECT_EQ(given.unsent_bytes_max(), 17u);
}

TEST(limits, every_default_is_a_bound) {
    const limits usual;
    EXPECT_EQ(usual.request_line_bytes_max(), 8192u);
    EXPECT_EQ(usual.head_bytes_max(), 32768u);
    EXPECT_EQ(usual.fields_max(), 100u);
    EXPECT_EQ(usual.field_bytes_max(), 16384u);
    for (const duration time : {usual.first_byte_timeout(), usual.head_timeout(), usual.idle_timeout(), usual.write_timeout(),
                                usual.linger_timeout(), usual.drain_timeout()}) {
        EXPECT_GT(time, 0s);
        EXPECT_LE(time, 60s);
    }
    EXPECT_LE(usual.requests_max(), 10'000u);
    EXPECT_LE(usual.connections_max(), 50'000u);
}

TEST(limits, numbers_that_cannot_be_are_refused) {
    EXPECT_DEATH(limits().fields_max(limits::fields_cap + 1), "fields_cap");
    EXPECT_DEATH(limits().requests_max(0), "at least 1");
    EXPECT_DEATH(limits().unsent_bytes_max(0), "at least 1");
    EXPECT_EQ(limits().fields_max(limits::fields_cap).fields_max(), limits::fields_cap);
}

TEST(options, keep_what_they_are_told) {
    class nobody final : public observer {
    } watching;
    const options usual("127.0.0.1:8080");
    EXPECT_EQ(usual.threads(), 1u);
    EXPECT_EQ(usual.watcher(), nullptr);
    EXPECT_FALSE(usual.is_quiet());
    const options how = options("127.0.0.1:0").listen("unix:@x").threads(3).watch(watching).quiet().bounds(limits().connections_max(5));
    EXPECT_EQ(how.addresses(), (std::vector<std::string>{"127.0.0.1:0", "unix:@x"}));
    EXPECT_EQ(how.threads(), 3u);
    EXPECT_EQ(how.watcher(), &watching);
    EXPECT_TRUE(how.is_quiet());
    EXPECT_EQ(how.bounds().connections_max(), 5u);
}

}  // namespace
}  // namespace martlet::server
