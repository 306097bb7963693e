// Each limit that the bytes of a request can reach, one below it, at it and one above. Most are cases of server-limits.jsonl; the others are
// tests here. The table says which limit is shown where, and is held against docs/limits.md: a new limit needs a line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/detail/testing_internal.hpp>
#include <martlet/wire/http/cookie.hpp>
#include <martlet/wire/http/range.hpp>
#include <martlet/wire/http1/limits.hpp>
#include <tests/support/case_file.hpp>

namespace martlet::server {
namespace {

using testing::answers_in;
using testing::bench;
using testing::client;
using testing::get;
using testing::letters;
using testing::request_text;
using testing::wire_answer;

enum class shown {
    in_cases,   ///< L-NAME-1 and so on in server-limits.jsonl
    here,       ///< server_limits.NAME
    elsewhere,  ///< a limit of time, of output, of a loop or of all peers: bytes of one request do not reach it
};

struct limit {
    std::string_view section;
    std::string_view name;
    shown where;
};

using enum shown;

constexpr limit limits_shown[] = {
    {"A server", "request_line_bytes_max", in_cases},
    {"A server", "head_bytes_max", in_cases},
    {"A server", "fields_max", in_cases},
    {"A server", "field_bytes_max", in_cases},
    {"A server", "requests_max", here},
    {"A server", "linger_bytes_max", here},
    {"A server", "body_bytes_max", in_cases},
    {"A server", "unread_bytes_max", in_cases},
    {"A server", "first_byte_timeout", elsewhere},
    {"A server", "head_timeout", elsewhere},
    {"A server", "idle_timeout", elsewhere},
    {"A server", "write_timeout", elsewhere},
    {"A server", "linger_timeout", elsewhere},
    {"A server", "body_rate_min", elsewhere},
    {"A server", "body_grace", elsewhere},
    {"A server", "body_timeout", elsewhere},
    {"A server", "unread_timeout", elsewhere},
    {"A server", "unsent_bytes_max", elsewhere},
    {"A server", "stream_queued_bytes_max", elsewhere},
    {"A server", "event_quiet_time", elsewhere},
    {"A server", "handler_timeout", elsewhere},
    {"A server", "slice_requests_max", elsewhere},
    {"A server", "flush_bytes", elsewhere},
    {"A server", "accepts_per_turn_max", elsewhere},
    {"A server", "connections_max", elsewhere},
    {"A server", "buffered_bytes_max", elsewhere},
    {"A server", "refusals_per_second_max", elsewhere},
    {"A server", "drain_timeout", elsewhere},
    {"A route", "body_bytes_max", in_cases},
    {"A route", "ignores_body", elsewhere},
    {"A route", "handler_timeout", elsewhere},
    {"A route", "keeps_running_after_fin", elsewhere},
    {"Content in chunks", "chunk_extension_bytes_max", in_cases},
    {"Content in chunks", "chunk_extensions_bytes_max", in_cases},
    {"Content in chunks", "chunk_overhead_bytes_max", in_cases},
    {"Content in chunks", "trailer_bytes_max", in_cases},
    {"Content in chunks", "trailers_max", in_cases},
    {"A form", "pairs_max", here},
    {"Cookies", "cookies_max", here},
    {"Byte ranges", "ranges_max", here},
    // Of the codec, and not for users to set on a server.
    {"", "method_bytes_max", in_cases},
    {"", "method_bytes_max", here},
    {"", "leading_empty_lines_max", in_cases},
    {"", "chunk_size_digits_max", in_cases},
    {"", "content_length_digits_max", in_cases},
};

struct row {
    std::string section;
    std::string name;
};

// The rows of the tables of docs/limits.md, up to the sections that have nothing to do with requests.
std::vector<row> documented() {
    std::filesystem::path folder = std::filesystem::current_path();
    for (int i = 0; i < 12 && !std::filesystem::exists(folder / "docs/limits.md"); ++i) folder = folder.parent_path();
    std::ifstream file(folder / "docs/limits.md");
    std::vector<row> rows;
    std::string section;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) section = line.substr(3);
        if (section == "A stream of events") break;
        if (line.starts_with("| `")) rows.push_back({section, line.substr(3, line.find('`', 3) - 3)});
    }
    return rows;
}

bool has_test(std::string_view name) {
    const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const ::testing::TestSuite& suite = *all.GetTestSuite(i);
        if (std::string_view(suite.name()) != "server_limits") continue;
        for (int k = 0; k < suite.total_test_count(); ++k) {
            if (suite.GetTestInfo(k)->name() == name) return true;
        }
    }
    return false;
}

TEST(server_limits, each_is_shown_at_its_edge) {
    const std::vector<row> rows = documented();
    ASSERT_FALSE(rows.empty()) << "docs/limits.md is not above the working directory";
    for (const row& each : rows) {
        const auto is_it = [&each](const limit& one) { return one.section == each.section && one.name == each.name; };
        EXPECT_EQ(std::ranges::count_if(limits_shown, is_it), 1) << each.section << ": " << each.name;
    }
    const std::vector<martlet::testing::fields> cases = martlet::testing::read_cases("http1/server-limits.jsonl");
    for (const limit& each : limits_shown) {
        const auto is_it = [&each](const row& one) { return one.section == each.section && one.name == each.name; };
        EXPECT_TRUE(each.section.empty() || std::ranges::any_of(rows, is_it)) << each.name << " is no limit";
        if (each.where == here) {
            EXPECT_TRUE(has_test(each.name)) << each.name;
        } else if (each.where == in_cases) {
            const std::string begin = (each.section == "A route" ? "L-route_" : "L-") + std::string(each.name) + "-";
            const auto is_case = [&begin](const martlet::testing::fields& one) { return one.at("id").starts_with(begin); };
            EXPECT_GE(std::ranges::count_if(cases, is_case), 3) << begin;
        }
    }
}

// --- what a case file cannot say ---

std::string times(std::size_t count, std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

std::size_t closing(const std::vector<wire_answer>& answers) {
    return static_cast<std::size_t>(std::ranges::count_if(answers, [](const wire_answer& one) { return one.closes(); }));
}

TEST(server_limits, requests_max) {
    constexpr std::size_t most = 10'000;
    for (const bool streams : {false, true}) {
        for (const std::size_t sent : {most - 1, most, most + 1}) {
            bench server;
            server.watched = false;
            server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
            server.app.get("/stream", [](request&, response& res) -> task<> {
                auto body = res.stream(200, http::media::text);
                auto done = co_await body.send("root");
                static_cast<void>(done);
            });
            client peer(server, net::unruly_options::tame());
            const std::string bytes = peer.ask(times(sent, get(streams ? "/stream" : "/")));
            std::size_t answered = 0, last = 0;
            for (std::size_t at = bytes.find("HTTP/1.1 200"); at != bytes.npos; at = bytes.find("HTTP/1.1 200", at + 1), ++answered)
                last = at;
            EXPECT_EQ(answered, std::min(sent, most));
            EXPECT_EQ(bytes.find("Connection: close") > last, true);
            EXPECT_EQ(bytes.find("Connection: close") != bytes.npos, sent >= most);
            EXPECT_EQ(peer.saw_end(), sent >= most);
        }
    }
}

TEST(server_limits, linger_bytes_max) {
    constexpr std::size_t most = 4 * 1024 * 1024;
    for (const std::size_t sent : {most - 1, most, most + 1}) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        client peer(server, net::unruly_options::tame());
        const auto answers = answers_in(peer.ask("BAD\r\n\r\n"));
        ASSERT_EQ(closing(answers), 1u);
        peer.send(std::string(sent, 'x'));
        EXPECT_EQ(peer.heard(), "");
        EXPECT_EQ(peer.is_closed(), sent > most) << sent;
    }
}

int status_of(bench& server, const std::string& bytes) {
    client peer(server);
    const auto answers = answers_in(peer.ask(bytes));
    return answers.size() == 1 ? answers[0].status : 0;
}

TEST(server_limits, pairs_max) {
    bench server;
    server.app.post("/collected", [](request& req, response& res) { res.text(200, std::to_string(req.form().value().size())); });
    server.app.post("/pulled", [](request& req, response& res) -> task<> {
        auto all = co_await req.read_all();
        const std::string content = std::move(all).value();
        res.text(200, std::to_string(req.form(content).value().size()));
    });
    for (const std::string_view path : {"/collected", "/pulled"}) {
        for (const auto& [pairs, status] : {std::pair(999, 200), std::pair(1000, 200), std::pair(1001, 413)}) {
            std::string content = "a=b";
            for (int i = 1; i < pairs; ++i) content += "&a=b";
            const std::string fields =
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " + std::to_string(content.size()) + "\r\n";
            EXPECT_EQ(status_of(server, request_text("POST", path, fields) + content), status) << path << ", " << pairs;
        }
    }
}

TEST(server_limits, cookies_max) {
    bench server;
    server.app.get("/", [](request& req, response& res) {
        static_cast<void>(http::cookie_view::parse(req.field(http::field_id::cookie).value_or("")).value());
        res.text(200, "root");
    });
    for (const auto& [cookies, status] : {std::pair(99, 200), std::pair(100, 200), std::pair(101, 431)}) {
        std::string field = "Cookie: a=b";
        for (int i = 1; i < cookies; ++i) field += "; a=b";
        EXPECT_EQ(status_of(server, get("/", field + "\r\n")), status) << cookies;
    }
}

TEST(server_limits, ranges_max) {
    bench server;
    server.app.get("/", [](request& req, response& res) {
        const auto asked = http::range_set::parse(req.field(http::field_id::range).value_or(""), 1'000'000);
        res.empty(asked.outcome() == http::range_outcome::ignored ? 200 : 206);
    });
    for (const auto& [ranges, status] : {std::pair(15, 206), std::pair(16, 206), std::pair(17, 200)}) {
        std::string field = "Range: bytes=0-0";
        for (int i = 1; i < ranges; ++i) field += "," + std::to_string(i * 1000) + "-" + std::to_string(i * 1000);
        EXPECT_EQ(status_of(server, get("/", field + "\r\n")), status) << ranges;
    }
}

// Beyond the limit the answer is the same, 501, but the head is not read on.
TEST(server_limits, method_bytes_max) {
    const std::size_t most = http1::head_limits().method_bytes_max();
    EXPECT_EQ(most, 32u);
    for (const std::size_t bytes : {most - 1, most, most + 1}) {
        bench server;
        client peer(server, net::unruly_options::tame());
        const bool is_refused_early = !answers_in(peer.ask(std::string(bytes, 'M'))).empty();
        EXPECT_EQ(is_refused_early, bytes > most);
        if (!is_refused_early) {
            const auto answers = answers_in(peer.ask(" / HTTP/1.1\r\nHost: a\r\n\r\n"));
            ASSERT_EQ(answers.size(), 1u);
            EXPECT_EQ(answers[0].status, 501);
        }
    }
}

}  // namespace
}  // namespace martlet::server
