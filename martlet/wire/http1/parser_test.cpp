// Verdicts: each case whole, at every split and byte by byte, with every parser. Mutations: the wide parsers against the scalar one.
#include <martlet/wire/http1/parser_test_internal.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace martlet::http1 {
namespace {

using testing::kinds;
using testing::told;
using testing::verdict;

std::string times(std::size_t count, std::string_view what) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += what;
    return text;
}

// What stands before the first space: "ok", "more" or a status.
std::string outcome(const std::string& verdict) { return verdict.substr(0, verdict.find(' ')); }

// The verdict on `bytes`, after holding that every delivery and every parser gives it.
std::string agreed(std::string_view bytes, const head_limits& limits = head_limits(), std::uint16_t capacity = 200) {
    const std::string whole = verdict(bytes, parser_kind::scalar, limits, capacity);
    for (const parser_kind kind : kinds) {
        EXPECT_EQ(verdict(bytes, kind, limits, capacity), whole) << static_cast<int>(kind) << " " << bytes.substr(0, 300);
        EXPECT_EQ(verdict(bytes, kind, 1, 1, limits, capacity), whole)
            << "byte by byte " << static_cast<int>(kind) << " " << bytes.substr(0, 300);
        const std::size_t step = bytes.size() > 2000 ? 997 : 1;
        for (std::size_t split = 0; split < bytes.size(); split += step) {
            const std::string halves = verdict(bytes, kind, split, bytes.size(), limits, capacity);
            EXPECT_EQ(halves, whole) << "split at " << split << " " << static_cast<int>(kind) << " " << bytes.substr(0, 300);
            if (halves != whole) break;
        }
    }
    if (outcome(whole) != "more") {
        const std::string more = std::string(bytes) + "GET /other HTTP/1.1\r\nHost: other\r\n\r\n";
        EXPECT_EQ(verdict(more, parser_kind::scalar, limits, capacity), whole) << bytes.substr(0, 300);
        EXPECT_EQ(verdict(more, parser_kind::avx2, limits, capacity), whole) << bytes.substr(0, 300);
    }
    return whole;
}

struct example {
    std::string_view bytes;
    const char* outcome;
};

void expect_all(const std::vector<example>& examples) {
    for (const example& each : examples) EXPECT_EQ(outcome(agreed(each.bytes)), each.outcome) << each.bytes;
}

// "GET / HTTP/1.1" with these lines behind it and the end of the head.
std::string get(std::string_view lines) { return "GET / HTTP/1.1\r\n" + std::string(lines) + "\r\n"; }
std::string get_with_host(std::string_view lines) { return get("Host: t.example\r\n" + std::string(lines)); }
std::string outcome_with(std::string_view lines) { return outcome(agreed(get_with_host(lines))); }

constexpr char nul_in_method[] = "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char nul_in_target[] = "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char nul_before_version[] = "GET / \0HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(request_line, one_space_and_crlf) {
    expect_all({
        {"", "more"},
        {"G", "more"},
        {"GET /", "more"},
        {"GET / HTTP/1.1\r", "more"},
        {"\r", "more"},
        {"\r\n", "more"},
        {"GET / HTTP/1.1\r\nHost: t\r\n\r", "more"},
        {"GET / HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"\nGET / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"\rGET / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET  / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /  HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET\t/\tHTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET\v/ HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET / HTTP/1.1 \r\nHost: t\r\n\r\n", "400"},
        {" GET / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET / HTTP/1.1\nHost: t\r\n\r\n", "400"},
        {"GET / HTTP/1.1\rHost: t\r\n\r\n", "400"},
        {"GET / HTTP/1.1\r\r\nHost: t\r\n\r\n", "400"},
        {"GET /\r\nHost: t\r\n\r\n", "400"},
        {"GET /\r\n\r\n", "400"},
        {"GET\r\nHost: t\r\n\r\n", "400"},
        {"GET HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"/ HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET / a HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"\x16\x03\x01\x02", "400"},
        {"   \r\n\r\n", "400"},
        {{nul_before_version, sizeof(nul_before_version) - 1}, "400"},
    });
}

TEST(request_line, methods) {
    expect_all({
        {"PURGE-X / HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"get / HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"GE(T / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET: / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"G\xc9T / HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {{nul_in_method, sizeof(nul_in_method) - 1}, "400"},
    });
    EXPECT_NE(agreed("get / HTTP/1.1\r\nHost: t\r\n\r\n").find("[get|9|"), std::string::npos);
    for (const char* name : {"GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PATCH", "OPTIONS"}) {
        const std::string told_head = agreed(std::string(name) + " /a?b HTTP/1.1\r\nHost: t\r\n\r\n");
        const auto number = std::to_string(static_cast<int>(http::method_of(name)));
        EXPECT_NE(told_head.find("[" + std::string(name) + "|" + number + "|1|0|/a?b|/a|?b|t|"), std::string::npos) << told_head;
    }
}

TEST(request_line, targets) {
    expect_all({
        {"GET http://t.example/a?b HTTP/1.1\r\nHost: t.example\r\n\r\n", "ok"},
        {"GET HTTP://T.EXAMPLE HTTP/1.1\r\nHost: t.example:80\r\n\r\n", "ok"},
        {"GET http://t.example?b HTTP/1.1\r\nHost: t.example\r\n\r\n", "ok"},
        {"GET http://t.example/ HTTP/1.0\r\n\r\n", "ok"},
        {"GET http://other.example/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET http://t.example:81/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET http://t.example/ HTTP/1.1\r\n\r\n", "400"},
        {"GET http://user:pw@t.example/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET http:///x HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET http://t.example:99999/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET http://t.example:8a/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET https://t.example/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "421"},
        {"GET ftp://t.example/ HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"GET * HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"OPTIONS ** HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"CONNECT [::1]:443 HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"CONNECT t HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"CONNECT t: HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"CONNECT /a HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET t.example:80 HTTP/1.1\r\nHost: t.example\r\n\r\n", "400"},
        {"GET ../x HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET ?q HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a#frag HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a?b#frag HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a\x07"
         "b HTTP/1.1\r\nHost: t\r\n\r\n",
         "400"},
        {"GET /a\x7f"
         "b HTTP/1.1\r\nHost: t\r\n\r\n",
         "400"},
        {"GET /a\tb HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a\rb HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a?caf\xc3\xa9 HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a?x={y}|^`[]\\%zz HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"GET /a?\"x\" HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a{b} HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a\\..\\b HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a%zz HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a% HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a%4 HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a%00b HTTP/1.1\r\nHost: t\r\n\r\n", "400"},
        {"GET /a%0d%0aX:%20y HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"GET /../%2e%2e/..%2f HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {"GET //evil.example/x HTTP/1.1\r\nHost: t\r\n\r\n", "ok"},
        {{nul_in_target, sizeof(nul_in_target) - 1}, "400"},
    });
    const head_limits encrypted = head_limits().encrypted(true);
    EXPECT_EQ(outcome(agreed("GET https://t/ HTTP/1.1\r\nHost: t:443\r\n\r\n", encrypted)), "ok");
    EXPECT_EQ(outcome(agreed("GET http://t/ HTTP/1.1\r\nHost: t\r\n\r\n", encrypted)), "421");
}

TEST(request_line, versions) {
    const auto with = [](std::string_view version) { return outcome(agreed("GET / " + std::string(version) + "\r\nHost: t\r\n\r\n")); };
    for (const char* good : {"HTTP/1.0", "HTTP/1.1", "HTTP/1.2", "HTTP/1.9"}) EXPECT_EQ(with(good), "ok") << good;
    for (const char* other : {"HTTP/2.0", "HTTP/9.9", "HTTP/0.9", "HTTP/3.0"}) EXPECT_EQ(with(other), "505") << other;
    for (const char* bad : {"HTTP/1", "HTTP/1.", "HTTP/1.10", "HTTP/01.1", "HTTP/1,1", "http/1.1", "Http/1.1", "HTTPS/1.1",
                            "HTTP/4294967297.1", "HTTP/1.1x", "HTTP 1.1", "HTTP/1.a", "HTTP/a.1", "XHTTP/1.1", "HTTP/-1.1"}) {
        EXPECT_EQ(with(bad), "400") << bad;
    }
    EXPECT_EQ(outcome(agreed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), "505");
}

TEST(fields, host) {
    const auto with = [](std::string_view value) { return outcome(agreed(get("Host: " + std::string(value) + "\r\n"))); };
    for (const char* good : {"a", "a:80", "a:", "[::1]", "[::1]:8080", "a%41", "a_b.example", "127.0.0.1:8080", "a:65535", "a:00080",
                             "abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz0123456", "abcdefghijklmnopqrstuvwxyz0:1234"}) {
        EXPECT_EQ(with(good), "ok") << good;
    }
    for (const char* bad : {"",
                            "a, b",
                            "a,b",
                            "a?x",
                            "a#x",
                            "a b",
                            "a/b",
                            "u@a",
                            "a:8o",
                            "a:o",
                            "a:80:80",
                            "0:1:2",
                            "1:8o",
                            "1:[]",
                            "a:123456",
                            "a:65536",
                            "a:-1",
                            ":80",
                            "[::1",
                            "::1",
                            "b\xc3\xbc.example",
                            "http://a",
                            "a\x01",
                            "abcdefghijklmnopqrstuvwxyz0:123x",
                            "abcdefghijklmnopqrstuvwxyz01234@"}) {
        EXPECT_EQ(with(bad), "400") << bad;
    }
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.1\r\n\r\n")), "400");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\n\r\n")), "ok");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\nHost: a b\r\n\r\n")), "400");
    EXPECT_EQ(outcome(agreed(get("Host: a\r\nHost: a\r\n"))), "400");
    EXPECT_EQ(outcome(agreed(get("Host: a\r\nX: y\r\nhOsT: b\r\n"))), "400");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n")), "400");
    EXPECT_EQ(outcome(agreed(get(" Host: a\r\n"))), "400");
    EXPECT_EQ(outcome(agreed(get("Host : a\r\n"))), "400");
}

TEST(fields, lines) {
    for (const char* good :
         {"X-A: b\r\n", "X-A:b\r\n", "X-A:\t b \t\r\n", "X-A:   \r\n", "X-A:\r\n", "X-A: a\tb\r\n", "X-A: \xc3\xa9\r\n", "X-A: a:b\r\n",
          "Transfer_Encoding: chunked\r\n", "X-A: 1\r\nX-A: 2\r\n", "Cookie: a=1\r\nCookie: b=2\r\n", "!#$%&'*+-.^_`|~: x\r\n",
          "te: trailers\r\nDNT: 1\r\nVia: 1.1 a\r\nAge: 1\r\n", "A: 1\r\nAB: 2\r\nABC: 3\r\n"}) {
        EXPECT_EQ(outcome_with(good), "ok") << good;
    }
    for (const char* bad : {"X-A : b\r\n",
                            "X-A\t: b\r\n",
                            ": b\r\n",
                            "X-A\r\n",
                            "X A: b\r\n",
                            "X[A]: b\r\n",
                            "X(A): b\r\n",
                            "X/A: b\r\n",
                            "X\vA: b\r\n",
                            "X\x85: b\r\n",
                            "X\xa0: b\r\n",
                            "\xefX: b\r\n",
                            "X-A: a\r\n b\r\n",
                            "X-A: a\r\n\tb\r\n",
                            "X-A: a\r\n \r\n",
                            "X-A: a\x1b"
                            "b\r\n",
                            "X-A: a\x7f"
                            "b\r\n",
                            "X-A: a\rb\r\n",
                            "X-A: a\nX-B: b\r\n",
                            "X-A: a\r\r\n",
                            "\n",
                            "User\rAgent: x\r\n",
                            "Content-Type: a/b\r\nContent-Type: c/d\r\n",
                            "\tX: y\r\n",
                            "@: b\r\n"}) {
        EXPECT_EQ(outcome_with(bad), "400") << bad;
    }
    for (int byte = 0; byte < 256; ++byte) {
        const std::string in_value = std::string("X-A: a") + static_cast<char>(byte) + "b\r\n";
        EXPECT_EQ(outcome_with(in_value), byte == '\t' || (byte >= 0x20 && byte != 0x7f) ? "ok" : "400") << byte;
    }
    EXPECT_EQ(agreed(get_with_host(" X: y\r\n")), "400 " + std::to_string(static_cast<unsigned>(errc::folded_line)));
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.1\nHost: t\n\n")), "400");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.1\r\nHost: t\r\n\n")), "400");
}

TEST(fields, content_length) {
    const auto with = [](std::string_view value) {
        return outcome(agreed(get_with_host("Content-Length:" + std::string(value) + "\r\n")));
    };
    for (const char* good : {" 5", " 0", " 005", "\t5\t", "5", " 9223372036854775808", " 18446744073709551615", " 00000000000000000005"}) {
        EXPECT_EQ(with(good), "ok") << good;
    }
    for (const char* bad : {" -5",
                            " -0",
                            " +5",
                            " 0x5",
                            " 0o5",
                            " 1_0",
                            " 5e0",
                            " 5;",
                            " 5x",
                            " ",
                            "",
                            " \"5\"",
                            " \xb2",
                            " 5, 5",
                            " 5, 6",
                            " 5,",
                            " ,5",
                            " 5 5",
                            " 18446744073709551616",
                            " 18446744073709551621",
                            " 000000000000000000005",
                            " 99999999999999999999"}) {
        EXPECT_EQ(with(bad), "400") << bad;
    }
    EXPECT_EQ(outcome_with("Content-Length: 5\r\nContent-Length: 5\r\n"), "400");
    EXPECT_EQ(outcome_with("content-length: 5\r\nCONTENT-LENGTH: 6\r\n"), "400");
    EXPECT_EQ(outcome_with("Content-Length : 5\r\n"), "400");
    EXPECT_EQ(outcome(agreed("POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\n")), "ok");
}

TEST(fields, transfer_encoding) {
    const auto with = [](std::string_view value) {
        return outcome(agreed(get_with_host("Transfer-Encoding:" + std::string(value) + "\r\n")));
    };
    for (const char* good : {" chunked", " CHUNKED", "\tchunked", " chunked ", "chunked"}) EXPECT_EQ(with(good), "ok") << good;
    for (const char* bad : {"", " chunked, gzip", " chunked, chunked", " ,chunked", " chunked,", " chunked;a=b", " \"chunked\"",
                            " \xa0"
                            "chunked",
                            " identity", " identity, chunked", " gzip,,chunked"}) {
        EXPECT_EQ(with(bad), "400") << bad;
    }
    for (const char* unknown : {" xchunked", " chunkedx", " gzip", " gzip, chunked"}) EXPECT_EQ(with(unknown), "501") << unknown;
    EXPECT_EQ(outcome_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"), "501");
    EXPECT_EQ(outcome_with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding : chunked\r\n"), "400");
    EXPECT_EQ(outcome_with("Transfer-Encoding: chunked\r\n x\r\n"), "400");
    EXPECT_EQ(outcome(agreed("POST / HTTP/1.0\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n")), "400");
}

TEST(fields, expectations) {
    const std::string_view body = "Content-Length: 5\r\n";
    EXPECT_EQ(outcome_with("Expect: 100-continue\r\n" + std::string(body)), "ok");
    EXPECT_EQ(outcome_with("Expect: 100-Continue\r\n"), "ok");
    for (const char* unknown : {"200-maybe", "", "100-continue, x", "y 100-continue", "100-continue;q=1"}) {
        EXPECT_EQ(outcome_with("Expect: " + std::string(unknown) + "\r\n"), "417") << unknown;
    }
    EXPECT_EQ(outcome_with("Expect: 100-continue\r\nExpect: x\r\n"), "417");
    EXPECT_EQ(outcome_with("Expect:\r\n 100-continue\r\n"), "400");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\nExpect: x\r\n\r\n")), "ok");
}

TEST(limits, request_line) {
    const head_limits limits = head_limits().request_line_bytes_max(100);
    const auto with = [&](std::size_t bytes) {
        return outcome(agreed("GET /" + times(bytes - 14, "a") + " HTTP/1.1\r\nHost: t\r\n\r\n", limits));
    };
    EXPECT_EQ(with(99), "ok");
    EXPECT_EQ(with(100), "ok");
    EXPECT_EQ(with(101), "414");
    EXPECT_EQ(with(5000), "414");
    EXPECT_EQ(outcome(agreed("GET /" + times(8192 - 14, "a") + " HTTP/1.1\r\nHost: t\r\n\r\n")), "ok");
    EXPECT_EQ(outcome(agreed("GET /?" + times(8193 - 15, "a") + " HTTP/1.1\r\nHost: t\r\n\r\n")), "414");
    // It is known before the line ends.
    EXPECT_EQ(verdict("GET /" + times(95, "a"), parser_kind::avx2, limits), "more");
    EXPECT_EQ(outcome(verdict("GET /" + times(96, "a"), parser_kind::avx2, limits)), "414");
}

TEST(limits, head) {
    const head_limits limits = head_limits().head_bytes_max(200);
    const std::string before = "GET / HTTP/1.1\r\nHost: t\r\nX: ";
    const auto with = [&](std::size_t bytes) {
        return outcome(agreed(before + times(bytes - before.size() - 4, "a") + "\r\n\r\n", limits));
    };
    EXPECT_EQ(with(199), "ok");
    EXPECT_EQ(with(200), "ok");
    EXPECT_EQ(with(201), "431");
    EXPECT_EQ(with(5000), "431");
    // Empty lines before the request line do not count.
    EXPECT_EQ(outcome(agreed("\r\n" + before + times(200 - before.size() - 4, "a") + "\r\n\r\n", limits)), "ok");
    EXPECT_EQ(outcome(agreed("GET /" + times(300, "a") + " HTTP/1.1\r\nHost: t\r\n\r\n", limits)), "414");
    const auto lines = [](std::size_t bytes) {
        const std::string many = get_with_host(times(3, "X: " + times(9000, "a") + "\r\n"));
        return many.substr(0, many.size() - 2) + "X: " + times(bytes - many.size() - 5, "a") + "\r\n\r\n";
    };
    EXPECT_EQ(outcome(agreed(lines(32767))), "ok");
    EXPECT_EQ(outcome(agreed(lines(32768))), "ok");
    EXPECT_EQ(outcome(agreed(lines(32769))), "431");
}

TEST(limits, field) {
    const head_limits limits = head_limits().field_bytes_max(100);
    const auto with = [&](std::size_t bytes, std::string_view behind) {
        return outcome(agreed(get_with_host("X: " + times(bytes - 3, "a") + "\r\n" + std::string(behind)), limits));
    };
    for (const char* behind : {"", "Y: z\r\n"}) {
        EXPECT_EQ(with(99, behind), "ok");
        EXPECT_EQ(with(100, behind), "ok");
        EXPECT_EQ(with(101, behind), "431");
    }
    EXPECT_EQ(outcome(agreed(get_with_host(times(101, "X") + ": a\r\n"), limits)), "431");
    EXPECT_EQ(outcome(agreed(get_with_host("X: " + times(97, " ") + "\r\n"), limits)), "ok");
    EXPECT_EQ(outcome(agreed(get_with_host("X: " + times(98, " ") + "\r\n"), limits)), "431");
    EXPECT_EQ(outcome(agreed(get_with_host(times(16382, "X") + ":a\r\n"))), "ok");
    EXPECT_EQ(outcome(agreed(get_with_host(times(16383, "X") + ":a\r\n"))), "431");
}

TEST(limits, the_one_that_is_reached_first_is_told) {
    const auto told_for = [](std::size_t head_bytes) {
        return agreed(get_with_host("X: " + times(500, "a") + "\r\n"), head_limits().field_bytes_max(100).head_bytes_max(head_bytes));
    };
    const std::size_t line_start = get_with_host("").size() - 2;
    const auto code = [](errc why) { return "431 " + std::to_string(static_cast<unsigned>(why)); };
    EXPECT_EQ(told_for(line_start + 101), code(errc::head_too_large));
    EXPECT_EQ(told_for(line_start + 103), code(errc::field_too_large));
}

TEST(limits, fields) {
    const auto with = [](std::size_t count, const head_limits& limits, std::uint16_t capacity) {
        return outcome(agreed(get_with_host(times(count - 1, "X-A: b\r\n")), limits, capacity));
    };
    const head_limits limits = head_limits().fields_max(10);
    EXPECT_EQ(with(9, limits, 200), "ok");
    EXPECT_EQ(with(10, limits, 200), "ok");
    EXPECT_EQ(with(11, limits, 200), "431");
    EXPECT_EQ(with(10, head_limits(), 10), "ok");
    EXPECT_EQ(with(11, head_limits(), 10), "431");
    EXPECT_EQ(with(100, head_limits(), 200), "ok");
    EXPECT_EQ(with(101, head_limits(), 200), "431");
    EXPECT_EQ(with(5000, head_limits(), 200), "431");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\n\r\n", head_limits().fields_max(0))), "ok");
    EXPECT_EQ(outcome(agreed("GET / HTTP/1.0\r\nA: b\r\n\r\n", head_limits().fields_max(0))), "431");
}

TEST(limits, method) {
    const auto with = [](std::size_t bytes) { return outcome(agreed(times(bytes, "A") + " / HTTP/1.1\r\nHost: t\r\n\r\n")); };
    EXPECT_EQ(with(31), "ok");
    EXPECT_EQ(with(32), "ok");
    EXPECT_EQ(with(33), "501");
    EXPECT_EQ(with(5000), "501");
    EXPECT_EQ(verdict(times(32, "A"), parser_kind::avx2), "more");
    EXPECT_EQ(outcome(verdict(times(33, "A"), parser_kind::avx2)), "501");
    EXPECT_EQ(outcome(verdict("A@", parser_kind::avx2)), "400");
}

TEST(limits, leading_empty_lines) {
    const std::string request = "GET / HTTP/1.0\r\n\r\n";
    EXPECT_EQ(outcome(agreed(request, head_limits().leading_empty_lines_max(0))), "ok");
    EXPECT_EQ(outcome(agreed("\r\n" + request, head_limits().leading_empty_lines_max(0))), "400");
    EXPECT_EQ(outcome(agreed(times(3, "\r\n") + request, head_limits().leading_empty_lines_max(3))), "ok");
    EXPECT_EQ(outcome(agreed(times(4, "\r\n") + request, head_limits().leading_empty_lines_max(3))), "400");
}

TEST(resume, a_finished_head_leaves_it_fresh) {
    testing::delivery in("\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\nGET", head_limits());
    EXPECT_TRUE(in.give(20, parser_kind::avx2).needs_more());
    EXPECT_FALSE(in.is_fresh());
    const parse_status status = in.give(100, parser_kind::avx2);
    ASSERT_TRUE(status.is_complete());
    EXPECT_EQ(status.consumed(), 29u);
    EXPECT_TRUE(in.is_fresh());
}

TEST(resume, what_was_refused_is_refused_again) {
    for (const std::string_view bad : {"GET / HTTP/1.1\r\nX Y: z\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET\n", "\r\n\r\n"}) {
        testing::delivery in(bad, head_limits());
        parse_status status = in.give(1, parser_kind::avx2);
        while (status.needs_more()) status = in.give(1, parser_kind::avx2);
        const errc first = status.code();
        for (int i = 0; i < 40; ++i) EXPECT_EQ(in.give(1, parser_kind::avx2).code(), first);
    }
}

// Whole lines behind the end, up to the end of what may be read: whoever goes on there reads what is not his.
TEST(padding, lines_behind_the_end_are_not_followed) {
    const std::string before = "GET / HTTP/1.1\r\nHost: t\r\n";
    std::vector<char> storage(before.begin(), before.end());
    while (storage.size() < before.size() + padding_bytes) storage.push_back("a:b\r\n"[(storage.size() - before.size()) % 5]);
    for (const parser_kind kind : kinds) {
        buffer in = buffer::over(storage.data(), storage.size());
        static_cast<void>(in.prepare(before.size()));
        in.commit(before.size());
        field_record records[100];
        request_head head(records, 100);
        resume_state resume;
        EXPECT_TRUE(parse_request(kind, in.padded(), head_limits(), head, resume).needs_more());
    }
}

TEST(string_view, takes_the_scalar_parser) {
    const std::string bytes = get_with_host("X-A: b\r\n");
    field_record records[4];
    request_head head(records, 4);
    resume_state resume;
    const parse_status status = parse_request(std::string_view(bytes), head_limits(), head, resume);
    EXPECT_EQ(told(status, head), verdict(bytes, parser_kind::avx2));
}

std::vector<std::string> sample_heads() {
    return {
        "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
        "GET /a/b?lang=en HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) "
        "AppleWebKit/537.36\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\nDNT: 1\r\nX-Own: a\tb\r\nCookie: "
        "session=0123456789abcdef\r\n\r\n",
        "\r\nPOST /x HTTP/1.1\r\nhost:t\r\nContent-Length: 12\r\nExpect: 100-continue\r\nContent-Type: a/b\r\n\r\n",
        "POST /%41 HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nConnection: close, TE\r\nTE: trailers\r\n\r\n",
        "GET http://t.example:80/a HTTP/1.1\r\nHost: T.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "OPTIONS * HTTP/1.0\r\nConnection: Keep-Alive\r\nAccept: a\r\nAccept: b\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: [::1]:1\r\n" + times(40, "L") + "-Long-Name: v\r\nE:\r\nF:   \r\n\r\n",
        "DELETE /0123456789012345678901234567890123456789?0123456789012345678901234567890123456789 HTTP/1.1\r\nHost: t\r\n\r\n",
    };
}

void expect_alike(const std::string& bytes) {
    const std::string scalar = verdict(bytes, parser_kind::scalar);
    ASSERT_EQ(verdict(bytes, parser_kind::sse2), scalar) << bytes;
    ASSERT_EQ(verdict(bytes, parser_kind::avx2), scalar) << bytes;
}

TEST(mutations, samples_are_accepted) {
    for (const std::string& bytes : sample_heads()) EXPECT_EQ(outcome(agreed(bytes)), "ok") << bytes;
}

TEST(mutations, every_value_of_every_byte) {
    for (std::size_t sample = 0; sample < 2; ++sample) {
        const std::string good = sample_heads()[sample];
        for (std::size_t at = 0; at < good.size(); ++at) {
            std::string bytes = good;
            for (int byte = 0; byte < 256; ++byte) {
                bytes[at] = static_cast<char>(byte);
                expect_alike(bytes);
            }
        }
    }
}

TEST(mutations, changed_inserted_and_dropped_bytes) {
    constexpr std::string_view telling("\0\x01\t\n\r\x1f !\":,;%?#/0aZ{\x7f\x80\xff", 24);
    for (const std::string& good : sample_heads()) {
        for (std::size_t at = 0; at <= good.size(); ++at) {
            for (const char byte : telling) {
                std::string bytes = good;
                expect_alike(bytes.insert(at, 1, byte));
                if (at == good.size()) continue;
                bytes = good;
                bytes[at] = byte;
                expect_alike(bytes);
            }
            if (at < good.size()) expect_alike(std::string(good).erase(at, 1));
            expect_alike(good.substr(0, at));
        }
    }
}

TEST(mutations, verdicts_do_not_depend_on_the_splitting) {
    for (const std::string& good : sample_heads()) {
        for (std::size_t at = 0; at < good.size(); ++at) {
            for (const char byte : {'\0', '\n', '\r', ' ', ':', 'a', '\x80'}) {
                std::string bytes = good;
                bytes[at] = byte;
                const std::string whole = verdict(bytes, parser_kind::avx2);
                ASSERT_EQ(verdict(bytes, parser_kind::avx2, 1, 1), whole) << bytes;
                ASSERT_EQ(verdict(bytes, parser_kind::avx2, at, 7), whole) << bytes;
            }
        }
    }
}

}  // namespace
}  // namespace martlet::http1
