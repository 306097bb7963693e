#include "checker.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "numbers.hpp"

namespace {

using namespace load;
using state = answer_step::state;

const std::string plain = "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\nContent-Length: 5\r\n\r\nHello";
const std::string later = "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 00:00:01 GMT\r\nContent-Length: 5\r\n\r\nHello";
const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nHel\r\n2\r\nlo\r\n0\r\n\r\n";
const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + plain;
const std::string closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nHello";
const std::string refused = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
const std::string empty = "HTTP/1.1 204 None\r\n\r\n";

expectation expected_of() {
    expectation out;
    out.status = *statuses_of("2xx");
    out.content_bytes = 5;
    out.hash = sha256::of("Hello");
    return out;
}

/// Every answer in `stream`, delivered in pieces that end where `cuts` says, as letters: r(ight), its keep-alive, or the fault's name.
std::string read(const std::string& stream, const std::vector<std::size_t>& cuts, const expectation& expected,
                 martlet::http::method method = martlet::http::method::get) {
    answer_model model(method, expected);
    answer_checker checker;
    std::string told, kept;
    std::size_t given = 0;
    bool is_unfinished = false;
    for (std::size_t piece = 0; piece <= cuts.size(); ++piece) {
        const std::size_t end = piece < cuts.size() ? cuts[piece] : stream.size();
        kept += stream.substr(given, end - given);
        given = end;
        while (!kept.empty()) {
            const answer_step step = checker.feed(kept, model);
            kept.erase(0, step.consumed);
            is_unfinished = step.now == state::more;
            if (is_unfinished) break;
            told += step.wrong ? std::string(fault_names[index_of(*step.wrong)]) : std::string("right");
            told += step.keep_alive ? " " : ". ";
            if (step.now == state::broken) return told + "broken";
        }
    }
    answer_step last;
    if (checker.end_of_input(model, last)) return told + (last.wrong ? std::string(fault_names[index_of(*last.wrong)]) : "right at end");
    if (is_unfinished) told += "unfinished";
    return told;
}

TEST(LoadChecker, JudgesAStreamAlikeHoweverItIsCut) {
    const expectation expected = expected_of();
    const std::string stream = plain + plain + later + chunked + interim + refused + plain + empty + later + closing;
    const std::string wanted = "right right right right right wrong_status right wrong_length right right. ";
    EXPECT_EQ(read(stream, {}, expected), wanted);
    for (std::size_t cut = 1; cut < stream.size(); ++cut) ASSERT_EQ(read(stream, {cut}, expected), wanted) << "cut at " << cut;
    std::vector<std::size_t> all;
    for (std::size_t cut = 1; cut < stream.size(); ++cut) all.push_back(cut);
    EXPECT_EQ(read(stream, all, expected), wanted);
}

// The comparison with the last head must not let anything through that the parser would refuse.
TEST(LoadChecker, AHeadThatDiffersInOneByteIsParsedAgain) {
    expectation expected;
    expected.status = *statuses_of("2xx");
    for (std::size_t at = 0; at < plain.size() - 5; ++at) {
        for (const char byte : {'\0', '\n', '\r', ' ', '6', ':', 'x'}) {
            if (plain[at] == byte) continue;
            std::string changed = plain;
            changed[at] = byte;
            ASSERT_EQ(read(plain + changed + plain, {}, expected).substr(6), read(changed + plain, {}, expected))
                << at << " as " << int{byte};
        }
    }
}

TEST(LoadChecker, RefusesWhatCouldBeReadInTwoWays) {
    const expectation expected = expected_of();
    for (const char* bad :
         {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello!", "HTTP/1.1 200 OK\nContent-Length: 5\n\nHello",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
          "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "ICY 200 OK\r\n\r\n"})
        EXPECT_EQ(read(bad, {}, expected), "bad_head broken") << bad;
    EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHelloo", {}, expected), "bad_content broken");
}

TEST(LoadChecker, KnowsTheMethod) {
    expectation expected;
    expected.status = *statuses_of("2xx");
    const std::string head = plain.substr(0, plain.size() - 5);
    EXPECT_EQ(read(head + head, {}, expected, martlet::http::method::head), "right right ");
    EXPECT_EQ(read(head, {}, expected), "unfinished");
}

TEST(LoadChecker, AContentMayEndWithTheConnection) {
    const expectation expected = expected_of();
    const std::string head = "HTTP/1.1 200 OK\r\n\r\n";
    EXPECT_EQ(read(head + "Hello", {}, expected), "right at end");
    EXPECT_EQ(read(head + "Hell", {}, expected), "wrong_length");
    EXPECT_EQ(read(plain.substr(0, plain.size() - 1), {}, expected), "unfinished");
    EXPECT_EQ(read(chunked.substr(0, chunked.size() - 2), {}, expected), "unfinished");
}

TEST(LoadChecker, AnotherContentOfTheSameLengthIsFound) {
    const expectation expected = expected_of();
    std::string other = plain;
    other[other.size() - 1] = 'a';
    EXPECT_EQ(read(plain + other + plain, {}, expected), "right wrong_hash right ");
}

}  // namespace
