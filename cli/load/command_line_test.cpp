#include "command_line.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "numbers.hpp"

namespace {

using namespace load;
using namespace std::chrono_literals;

auto read(std::vector<const char*> words) { return command_line::read(words); }

std::string problem(std::vector<const char*> words) {
    const auto read_words = read(std::move(words));
    return read_words ? "none" : read_words.error();
}

TEST(LoadCommandLine, ReadsEveryFormOfAnOption) {
    for (const std::vector<const char*>& words :
         std::vector<std::vector<const char*>>{{"http://127.0.0.1:8080/a", "-c", "50", "--rate", "5000"},
                                               {"-c50", "http://127.0.0.1:8080/a", "--rate=5000"},
                                               {"--connections=50", "--rate", "5000", "http://127.0.0.1:8080/a"}}) {
        const auto asked = read(words);
        ASSERT_TRUE(asked) << asked.error();
        EXPECT_EQ(asked->what.connections, 50u);
        EXPECT_DOUBLE_EQ(*asked->what.rate, 5000);
        EXPECT_EQ(asked->what.length, 10s);
        EXPECT_EQ(asked->what.targets[0].where.text(), "127.0.0.1:8080");
    }
}

TEST(LoadCommandLine, EncodesTheRequestOnce) {
    const auto asked = read({"http://LocalHost:80/a?b=c", "-H", "X-One:  1 ", "--body", "x=1"});
    ASSERT_TRUE(asked) << asked.error();
    EXPECT_EQ(asked->what.targets[0].request, "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nX-One: 1\r\n\r\nx=1");
    const auto bare = read({"http://127.0.0.1:81"});
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->what.targets[0].request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n");
    const auto as_browsers = read({"http://127.0.0.1:81", "-H", "Connection: keep-alive", "-H", "X: y"});
    ASSERT_TRUE(as_browsers) << as_browsers.error();
    EXPECT_EQ(as_browsers->what.targets[0].request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:81\r\nConnection: keep-alive\r\nX: y\r\n\r\n");
    EXPECT_FALSE(as_browsers->what.targets[0].closes);
    const auto closes = read({"http://127.0.0.1:81", "--close"});
    ASSERT_TRUE(closes) << closes.error();
    EXPECT_EQ(closes->what.targets[0].request, "GET / HTTP/1.1\r\nHost: 127.0.0.1:81\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(closes->what.targets[0].closes);
}

TEST(LoadCommandLine, ReadsTargetsWithShares) {
    const auto asked = read({"--target", "http://127.0.0.1/a?x=y=3", "--target=http://[::1]:81/b?c=d", "-t", "64"});
    ASSERT_TRUE(asked) << asked.error();
    ASSERT_EQ(asked->what.targets.size(), 2u);
    EXPECT_EQ(asked->what.targets[0].url, "http://127.0.0.1/a?x=y");
    EXPECT_EQ(asked->what.targets[0].share, 3u);
    EXPECT_EQ(asked->what.targets[1].share, 1u);
    EXPECT_EQ(asked->what.threads, 10u);
}

TEST(LoadCommandLine, ANumberOfRequestsHasNoEndInTime) {
    EXPECT_EQ(read({"http://127.0.0.1/", "-n", "5"})->what.length, forever);
    EXPECT_EQ(read({"http://127.0.0.1/", "-n", "5", "-d", "2m"})->what.length, 2min);
    EXPECT_EQ(read({"http://127.0.0.1/"})->what.timeout, 10s);
}

TEST(LoadCommandLine, SaysWhatIsWrong) {
    const char* const url = "http://127.0.0.1/";
    EXPECT_EQ(problem({}), "a URL is wanted, as http://127.0.0.1:8080/");
    EXPECT_EQ(problem({url, "-c"}), "-c takes a value");
    EXPECT_EQ(problem({url, "-c", "x"}), "-c takes a whole number from 1 to 1000000, not \"x\"");
    EXPECT_EQ(problem({url, "-d", "0s"}), "-d takes a time as 10s, 500ms or 2m, and not none, not \"0s\"");
    EXPECT_EQ(problem({url, "--warmup", "20s"}), "the warm-up must end before the load does");
    EXPECT_EQ(problem({url, url}), "there is a URL already; several are given as --target URL=SHARE: \"http://127.0.0.1/\"");
    EXPECT_EQ(problem({url, "--quiet=yes"}), "what is \"--quiet=yes\"?");
    EXPECT_EQ(problem({url, "--expect-hash", "12"}), "--expect-hash takes a SHA-256 as 64 hexadecimal digits, not \"12\"");
    EXPECT_EQ(problem({url, "--expect-status", "2x"}), "--expect-status takes statuses as 200, 2xx or 200,304, not \"2x\"");
    EXPECT_EQ(problem({url, "--ramp", "1s"}), "--ramp is for a load with --rate");
    EXPECT_EQ(problem({url, "--rate", "5", "--ramp", "10s"}), "the ramp must end before the load does");
    EXPECT_EQ(problem({url, "--close", "--pipeline", "2"}), "--close leaves nothing to --pipeline");
    EXPECT_NE(problem({url, "-H", "Connection: close"}), "none");
    EXPECT_NE(problem({url, "-X", "CONNECT"}), "none");
    EXPECT_NE(problem({url, "-X", "TRACE", "--body", "x"}), "none");
    EXPECT_NE(problem({url, "-H", "Transfer-Encoding: chunked"}), "none");
    EXPECT_NE(problem({"https://127.0.0.1/"}).find("no TLS yet"), std::string::npos);
}

TEST(LoadNumbers, ReadsTimesAndNumbers) {
    EXPECT_EQ(time_of("10"), 10s);
    EXPECT_EQ(time_of("1.5s"), 1500ms);
    EXPECT_EQ(time_of("250us"), 250us);
    EXPECT_EQ(time_of("0ms"), 0s);
    for (const char* bad : {"", "s", "-1s", "1d", "1e9s", "inf", "9000h", "1 s"}) EXPECT_FALSE(time_of(bad)) << bad;
    EXPECT_FALSE(whole_number("12x", 100));
    EXPECT_FALSE(whole_number("101", 100));
    EXPECT_TRUE(statuses_of("204,5xx")->test(599));
    EXPECT_FALSE(statuses_of("204,5xx")->test(200));
    for (const char* bad : {"", "20", "2xx,", "0xx", "1000", "+20"}) EXPECT_FALSE(statuses_of(bad)) << bad;
}

TEST(LoadNumbers, WritesTimesWithThreeDigits) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(999), "999 ns");
    EXPECT_EQ(time_text(999.6), "1.00 us");
    EXPECT_EQ(time_text(12'345), "12.3 us");
    EXPECT_EQ(time_text(999'949), "1.00 ms");
    EXPECT_EQ(time_text(123.4e6), "123 ms");
    EXPECT_EQ(time_text(60e9), "60.0 s");
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(LoadSha256, HashesAsPublished) {
    EXPECT_EQ(sha256::text(sha256::of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256::text(sha256::of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const std::string long_one(1'000'000, 'a');
    const char* const wanted = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    EXPECT_EQ(sha256::text(sha256::of(long_one)), wanted);
    sha256 pieces;
    for (std::size_t at = 0, size = 1; at < long_one.size(); at += size, size = size % 131 + 1)
        pieces.add(std::string_view(long_one).substr(at, size));
    EXPECT_EQ(pieces.finish(), sha256::parse(wanted));
    EXPECT_FALSE(sha256::parse("zz"));
}

}  // namespace
