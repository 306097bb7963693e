// What each attacker does, as data: what a connection says first, what it says again and again, how fast, what it reads and how it leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace martlet::attacks {

/// How a connection ends that the server has not ended before.
enum class leaving {
    never,        ///< stays until the drill is over
    fin_at_once,  ///< sends FIN behind its opening, and stays to read
    reset,        ///< resets as soon as its opening is sent
    close,        ///< closes as soon as its opening is sent
};

struct plan {
    std::string_view name;
    /// Open at the same time.
    unsigned connections = 0;
    /// One of them, by turns, is the first that a connection sends.
    std::vector<std::string> openings = {};
    /// Sent behind it again and again.
    std::string unit = {};
    /// How often it is sent at most; 0 is without end.
    std::uint64_t units_max = 0;
    /// 0: as fast as it is taken. Else so many bytes of the units at a time.
    unsigned send_every_ms = 0;
    std::size_t send_bytes = 0;
    bool reads = true;
    /// 0: as it comes. Else so many bytes at a time.
    unsigned read_every_ms = 0;
    std::size_t read_bytes = 0;
    /// Of the socket, 0 for the system's default.
    int receive_buffer_bytes = 0;
    leaving leaves = leaving::never;
    /// New connections in 10 ms.
    unsigned opened_per_tick_max = 500;
};

inline std::string repeated(std::string_view text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

inline std::string get(std::string_view target, std::string_view fields = {}) {
    return std::string("GET ").append(target).append(" HTTP/1.1\r\nHost: a\r\n").append(fields).append("\r\n");
}

inline std::string post_head(std::string_view target, std::string_view fields) {
    return std::string("POST ").append(target).append(" HTTP/1.1\r\nHost: a\r\n").append(fields).append("\r\n");
}

inline constexpr std::string_view in_chunks = "Transfer-Encoding: chunked\r\n";

/// `count` different names of which all have one value under multiplicative hashes by 33 or 31: "Aa" and "BB" are alike to Java's,
/// "Az" and "BY" to 33's.
inline std::vector<std::string> colliding_names(std::string_view one, std::string_view other, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        std::string name;
        for (std::size_t bits = 1; bits < count; bits *= 2) name += (i & bits) != 0 ? one : other;
        names.push_back(std::move(name));
    }
    return names;
}

/// Those who take their time.
inline std::vector<plan> slow_plans() {
    const std::string big = get("/big");
    return {
        {.name = "slow_heads",
         .connections = 1000,
         .openings = {"GET /hello HTTP/1.1\r\nHost: a\r\n"},
         .unit = "X-Slow: a\r\n",
         .send_every_ms = 200,
         .send_bytes = 1},
        {.name = "slow_bodies",
         .connections = 1000,
         .openings = {post_head("/count", "Content-Length: 8192\r\n"), post_head("/pull", "Content-Length: 8192\r\n")},
         .unit = "0123456789",
         .send_every_ms = 500,
         .send_bytes = 10},
        {.name = "slow_chunks",
         .connections = 1000,
         .openings = {post_head("/count", in_chunks), post_head("/pull", in_chunks)},
         .unit = "1\r\nx\r\n",
         .send_every_ms = 500,
         .send_bytes = 6},
        {.name = "slow_readers",
         .connections = 1000,
         .openings = {big + big + big, get("/stream")},
         .read_every_ms = 100,
         .read_bytes = 32,
         .receive_buffer_bytes = 1024},
        {.name = "stalled_readers",
         .connections = 1000,
         .openings = {big + big + big, get("/stream"), get("/file")},
         .reads = false,
         .receive_buffer_bytes = 1024},
        {.name = "silent_connections", .connections = 2000},
    };
}

/// Those who never come to an end.
inline std::vector<plan> endless_plans() {
    const std::string begun = "GET /hello HTTP/1.1\r\nHost: a\r\n";
    return {
        {.name = "header_flood", .connections = 16, .openings = {begun}, .unit = "X-Flood: a\r\n"},
        {.name = "big_header_flood", .connections = 16, .openings = {begun}, .unit = "X-Flood: " + repeated("a", 15'000) + "\r\n"},
        {.name = "endless_request_line", .connections = 16, .openings = {"GET /"}, .unit = "aaaaaaaaaaaaaaaa"},
        {.name = "endless_field_line", .connections = 16, .openings = {begun + "X-Long: "}, .unit = "aaaaaaaaaaaaaaaa"},
        {.name = "extension_flood",
         .connections = 16,
         .openings = {post_head("/count", in_chunks), post_head("/pull", in_chunks)},
         .unit = "1;name=" + repeated("v", 200) + "\r\nx\r\n"},
        {.name = "tiny_chunks",
         .connections = 16,
         .openings = {post_head("/count", in_chunks), post_head("/pull", in_chunks)},
         .unit = "1\r\nx\r\n"},
        {.name = "endless_trailers",
         .connections = 16,
         .openings = {post_head("/count", in_chunks) + "0\r\n", post_head("/pull", in_chunks) + "0\r\n"},
         .unit = "X-Trailer: a\r\n"},
        {.name = "pipelining_flood", .connections = 64, .unit = get("/hello"), .units_max = 100'000, .reads = false},
        {.name = "greedy_pipelining", .connections = 16, .unit = get("/hello"), .units_max = 10'000},
    };
}

/// Those who make the server hold something, or send what it has refused.
inline std::vector<plan> heavy_plans() {
    const std::string chunk = "8000\r\n" + repeated("u", 32'768) + "\r\n";
    return {
        {.name = "refused_uploads",
         .connections = 16,
         .openings = {post_head("/count", "Content-Length: 1073741824\r\n"), post_head("/count", in_chunks), post_head("/pull", in_chunks)},
         .unit = chunk},
        {.name = "unread_uploads",
         .connections = 16,
         .openings = {post_head("/nobody", in_chunks), post_head("/none", in_chunks)},
         .unit = chunk},
        {.name = "hoarded_bodies",
         .connections = 600,
         .openings = {post_head("/count", "Content-Length: 1000000\r\n"), post_head("/pull", "Content-Length: 1000000\r\n")},
         .unit = repeated("h", 1000),
         .units_max = 900,
         .opened_per_tick_max = 20},
        {.name = "hoarded_heads",
         .connections = 12'000,
         .openings = {"GET /hello HTTP/1.1\r\nHost: a\r\nX-Held: " + repeated("h", 15'000) + "\r\nX-Held: " + repeated("h", 15'000) +
                      "\r\nX-Last: "},
         .opened_per_tick_max = 100},
        {.name = "range_bomb",
         .connections = 16,
         .openings = {get("/file", "Connection: close\r\nRange: bytes=0-0" + repeated(",1-1", 3000) + "\r\n"),
                      get("/file", "Connection: close\r\nRange: bytes=0-" + repeated(",0-", 3000) + "\r\n"),
                      get("/file",
                          "Connection: close\r\nRange: "
                          "bytes=0-0,200-200,400-400,600-600,800-800,1000-1000,1200-1200,1400-1400,1600-1600,1800-1800\r\n")}},
    };
}

inline plan hash_flooding() {
    std::string pairs, query, fields;
    for (const std::string& name : colliding_names("Aa", "BB", 10'000)) pairs += name + "=&";
    for (const std::string& name : colliding_names("Az", "BY", 256)) query += name + "=&";
    for (const std::string& name : colliding_names("Aa", "BB", 96)) fields += name + ": a\r\n";
    const std::string form = "Connection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ";
    return {.name = "hash_flooding",
            .connections = 16,
            .openings = {post_head("/form", form + std::to_string(pairs.size()) + "\r\n") + pairs,
                         get("/query?" + query + "last=found", "Connection: close\r\n"), get("/hello", fields + "Connection: close\r\n")}};
}

/// Those who come and go.
inline std::vector<plan> connection_plans() {
    const std::string hello = get("/hello");
    return {
        {.name = "connection_flood", .connections = 3000, .openings = {hello}},
        {.name = "descriptor_limit", .connections = 1500},
        {.name = "early_fins", .connections = 256, .openings = {"", "GET /hel", hello}, .leaves = leaving::fin_at_once},
        {.name = "reset_storm",
         .connections = 256,
         .openings = {"", "GET /hel", hello, get("/stream"), get("/big")},
         .leaves = leaving::reset},
        {.name = "expect_games",
         .connections = 256,
         .openings = {post_head("/count", "Expect: 100-continue\r\nContent-Length: 100\r\n"),
                      post_head("/pull", "Expect: 100-continue\r\nContent-Length: 100\r\n"),
                      post_head("/nobody", "Expect: 100-continue\r\nContent-Length: 100\r\n"),
                      post_head("/count", "Expect: 100-continue\r\nContent-Length: 2000000\r\n"),
                      post_head("/count", "Expect: the-unexpected\r\nContent-Length: 100\r\n"),
                      post_head("/count", "Expect: 100-continue\r\nContent-Length: 4\r\n") + "abcd"}},
    };
}

/// All plans.
inline std::vector<plan> all_plans() {
    std::vector<plan> all;
    const auto add = [&all](std::vector<plan> some) {
        all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    };
    add(slow_plans());
    add(endless_plans());
    add(heavy_plans());
    add(connection_plans());
    all.push_back(hash_flooding());
    return all;
}

}  // namespace martlet::attacks
