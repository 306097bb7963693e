#include <martlet/wire/http1/encoder.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/http/status.hpp>

namespace martlet::http1 {
namespace {

using http::field_value;
using http::media;

// The head as text, encoded in exactly the room that was asked for.
std::string encoded(int status, http::content_type type, body_framing framing, std::string_view extra, persistence connection,
                    const response_prefix& prefix) {
    std::vector<char> room(encoded_bytes_max(type, extra));
    char* const end = encode_head(room.data(), status, type, framing, extra, connection, prefix);
    return std::string(room.data(), end);
}

response_prefix at_1994() {
    response_prefix prefix;
    prefix.refresh(784111777);
    return prefix;
}

constexpr std::string_view server_and_date = "Server: martlet\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

TEST(encode_head, the_usual_answer) {
    EXPECT_EQ(
        encoded(200, media::text, body_framing::length(13), {}, persistence::keep, at_1994()),
        "HTTP/1.1 200 OK\r\n" + std::string(server_and_date) + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\n");
}

TEST(encode_head, framing_and_persistence) {
    const std::string before = "HTTP/1.1 404 Not Found\r\n" + std::string(server_and_date);
    const auto with = [](body_framing framing, persistence connection) { return encoded(404, {}, framing, {}, connection, at_1994()); };
    EXPECT_EQ(with(body_framing::none(), persistence::keep), before + "\r\n");
    EXPECT_EQ(with(body_framing::chunked(), persistence::keep), before + "Transfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(with(body_framing::until_close(), persistence::close), before + "Connection: close\r\n\r\n");
    EXPECT_EQ(with(body_framing::length(0), persistence::keep_alive), before + "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

TEST(encode_head, lengths) {
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{99}, std::uint64_t{100}, std::uint64_t{12345}, UINT64_MAX}) {
        for (const persistence connection : {persistence::keep, persistence::close}) {
            const std::string head = encoded(200, media::none, body_framing::length(bytes), {}, connection, at_1994());
            EXPECT_NE(head.find("\r\nContent-Length: " + std::to_string(bytes) + "\r\n"), std::string::npos) << head;
            EXPECT_TRUE(head.ends_with("\r\n\r\n"));
        }
    }
}

TEST(encode_head, every_status) {
    for (int status = 100; status <= 599; ++status) {
        const std::string line = "HTTP/1.1 " + std::to_string(status) + " " + std::string(http::reason(status)) + "\r\n";
        EXPECT_TRUE(encoded(status, media::json, body_framing::length(1), {}, persistence::keep, at_1994()).starts_with(line + "Server"))
            << line;
        EXPECT_TRUE(encoded(status, media::json, body_framing::none(), {}, persistence::close, at_1994()).starts_with(line + "Server"))
            << line;
    }
}

TEST(encode_head, every_type) {
    for (int id = 1; id < static_cast<int>(media::custom); ++id) {
        const auto type = static_cast<media>(id);
        const std::string line = "\r\nContent-Type: " + std::string(text(type)) + "\r\nContent-Length: 10\r\n\r\n";
        EXPECT_NE(encoded(200, type, body_framing::length(10), {}, persistence::keep, at_1994()).find(line), std::string::npos) << line;
    }
    const std::string value = "application/" + std::string(3000, 'x');
    const http::content_type own(field_value::make(value).value());
    EXPECT_NE(encoded(200, own, body_framing::length(10), {}, persistence::keep, at_1994()).find("\r\nContent-Type: " + value + "\r\n"),
              std::string::npos);
}

TEST(encode_head, extra_fields) {
    char room[200];
    char* end = encode_field(room, http::field_id::etag, field_value::literal("\"a\""));
    EXPECT_EQ(static_cast<std::size_t>(end - room), encoded_field_bytes(http::field_id::etag, field_value::literal("\"a\"")));
    char* const second = end;
    end = encode_field(end, http::token::literal("X-Own"), field_value());
    EXPECT_EQ(static_cast<std::size_t>(end - second), encoded_field_bytes(http::token::literal("X-Own"), field_value()));
    const std::string extra(room, end);
    EXPECT_EQ(extra, "ETag: \"a\"\r\nX-Own: \r\n");
    EXPECT_TRUE(encoded(200, media::text, body_framing::length(13), extra, persistence::keep, at_1994())
                    .ends_with("Content-Length: 13\r\n" + extra + "\r\n"));
    const std::string large(5000, 'x');
    EXPECT_NE(encoded(599, media::text, body_framing::length(UINT64_MAX), large, persistence::keep_alive, at_1994()).find(large),
              std::string::npos);
}

TEST(encode_head, of_a_stream) {
    const auto streamed = [](int minor) {
        return encoded(200, media::text, streamed_framing(minor), {}, minor == 0 ? persistence::close : persistence::keep, at_1994());
    };
    EXPECT_TRUE(streamed(1).ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_TRUE(streamed(7).ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_TRUE(streamed(0).ends_with("\r\nConnection: close\r\n\r\n"));
    EXPECT_EQ(streamed(0).find("Transfer-Encoding"), std::string::npos);
}

TEST(encode_interim_head, statuses_and_fields) {
    const auto interim = [](int status, std::string_view extra) {
        std::vector<char> room(interim_bytes_max(extra));
        return std::string(room.data(), encode_interim_head(room.data(), status, extra));
    };
    EXPECT_EQ(interim(100, {}), continue_response);
    EXPECT_EQ(interim(103, "Link: </a>; rel=preload\r\n"), "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
    EXPECT_EQ(interim(199, {}), "HTTP/1.1 199 \r\n\r\n");
}

TEST(encode_switching_head, names_the_protocol) {
    const auto protocol = field_value::literal("websocket");
    const std::string extra = "Sec-WebSocket-Accept: x\r\n";
    std::vector<char> room(switching_bytes_max(protocol, extra));
    EXPECT_EQ(std::string(room.data(), encode_switching_head(room.data(), protocol, extra, at_1994())),
              "HTTP/1.1 101 Switching Protocols\r\n" + std::string(server_and_date) + "Connection: Upgrade\r\nUpgrade: websocket\r\n" +
                  extra + "\r\n");
}

TEST(response_prefix, date_and_server) {
    response_prefix prefix(field_value::literal("own"));
    EXPECT_EQ(prefix.bytes(), "Server: own\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
    prefix.refresh(1);
    EXPECT_EQ(prefix.bytes(), "Server: own\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n");
    prefix.refresh(0);
    EXPECT_EQ(prefix.bytes(), "Server: own\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
    EXPECT_EQ(response_prefix(field_value()).bytes(), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");

    const std::string name(200, 's');
    response_prefix longest(field_value::make(name).value());
    longest.refresh(784111777);
    const std::string expected =
        "Server: " + name.substr(0, response_prefix::server_bytes_max) + "\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    EXPECT_EQ(longest.bytes(), expected);
    EXPECT_EQ(encoded(200, media::none, body_framing::length(13), {}, persistence::keep, longest),
              "HTTP/1.1 200 OK\r\n" + expected + "Content-Length: 13\r\n\r\n");
}

TEST(response_prefix, what_it_keeps_is_of_this_second) {
    response_prefix prefix;
    const auto head = [&](int status, media type) {
        return encoded(status, type, body_framing::length(13), {}, persistence::keep, prefix);
    };
    for (std::int64_t second = 1; second < 4; ++second) {
        prefix.refresh(second);
        for (int round = 0; round < 2; ++round) {
            for (int status = 200; status < 210; ++status) {
                for (const media type : {media::none, media::text, media::json}) {
                    const std::string expected = "HTTP/1.1 " + std::to_string(status) + " " + std::string(http::reason(status)) + "\r\n" +
                                                 std::string(prefix.bytes()) +
                                                 (type == media::none ? "" : "Content-Type: " + std::string(text(type)) + "\r\n") +
                                                 "Content-Length: 13\r\n\r\n";
                    EXPECT_EQ(head(status, type), expected);
                }
            }
        }
    }
}

TEST(encode_decimal, as_written_elsewhere) {
    std::vector<std::uint64_t> numbers = {0, UINT64_MAX};
    for (std::uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        for (const std::uint64_t number : {power - 1, power, power + 1, power * 7 + 3}) numbers.push_back(number);
    }
    for (const std::uint64_t number : numbers) {
        char room[21] = {};
        char* const end = encode_decimal(room, number);
        EXPECT_EQ(std::string(room, end), std::to_string(number));
    }
}

}  // namespace
}  // namespace martlet::http1
