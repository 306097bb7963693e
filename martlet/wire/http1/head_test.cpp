#include <martlet/wire/http1/head.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <martlet/wire/http1/parser_test_internal.hpp>

namespace martlet::http1 {
namespace {

// A head with the bytes and records it stands on.
class parsed {
public:
    explicit parsed(std::string_view bytes) : in_(bytes, head_limits()), status_(in_.give(bytes.size(), parser_kind::avx2)) {
        EXPECT_TRUE(status_.is_complete()) << bytes;
    }
    const request_head& operator*() const { return in_.head(); }
    const request_head* operator->() const { return &in_.head(); }

private:
    testing::delivery in_;
    parse_status status_;
};

TEST(request_head, target_and_its_parts) {
    const parsed origin("GET /a/b?c=d?e HTTP/1.1\r\nHost: h:1\r\n\r\n");
    EXPECT_EQ(origin->method(), http::method::get);
    EXPECT_EQ(origin->method_text(), "GET");
    EXPECT_EQ(origin->version_minor(), 1);
    EXPECT_EQ(origin->form(), target_form::origin);
    EXPECT_EQ(origin->target(), "/a/b?c=d?e");
    EXPECT_EQ(origin->path(), "/a/b");
    EXPECT_TRUE(origin->has_query());
    EXPECT_EQ(origin->query(), "c=d?e");
    EXPECT_EQ(origin->host(), "h:1");

    const parsed empty_query("GET /? HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(empty_query->has_query());
    EXPECT_EQ(empty_query->query(), "");
    EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: h\r\n\r\n")->has_query());

    const parsed absolute("BREW HTTP://h/x?y HTTP/1.5\r\nHost: H:80\r\n\r\n");
    EXPECT_EQ(absolute->method(), http::method::other);
    EXPECT_EQ(absolute->method_text(), "BREW");
    EXPECT_EQ(absolute->version_minor(), 5);
    EXPECT_EQ(absolute->form(), target_form::absolute);
    EXPECT_EQ(absolute->path(), "/x");
    EXPECT_EQ(absolute->query(), "y");
    EXPECT_EQ(absolute->host(), "h");
    EXPECT_FALSE(absolute->is_https());

    const parsed no_path("GET http://h?y HTTP/1.0\r\n\r\n");
    EXPECT_EQ(no_path->path(), "/");
    EXPECT_EQ(no_path->query(), "y");
    EXPECT_EQ(no_path->host(), "h");

    const parsed asterisk("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(asterisk->form(), target_form::asterisk);
    EXPECT_EQ(asterisk->path(), "*");

    const parsed authority("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(authority->form(), target_form::authority);
    EXPECT_EQ(authority->target(), "h:443");
    EXPECT_EQ(authority->path(), "");

    EXPECT_EQ(parsed("GET / HTTP/1.0\r\n\r\n")->host(), "");
}

TEST(request_head, framing) {
    const auto of = [](std::string_view lines) {
        return parsed("POST / HTTP/1.1\r\nHost: h\r\n" + std::string(lines) + "\r\n")->framing();
    };
    EXPECT_EQ(of(""), body_framing::none());
    EXPECT_EQ(of("Content-Length: 0\r\n"), body_framing::length(0));
    EXPECT_EQ(of("Content-Length: 010\r\n"), body_framing::length(10));
    EXPECT_EQ(of("Content-Length: 18446744073709551615\r\n"), body_framing::length(UINT64_MAX));
    EXPECT_EQ(of("transfer-encoding: Chunked\r\n"), body_framing::chunked());
    EXPECT_EQ(of("Transfer_Encoding: chunked\r\n"), body_framing::none());
    EXPECT_TRUE(body_framing::length(0).is_empty());
    EXPECT_FALSE(body_framing::chunked().is_empty());
}

TEST(request_head, keep_alive) {
    const auto of = [](std::string_view minor, std::string_view lines) {
        return parsed("GET / HTTP/1." + std::string(minor) + "\r\nHost: h\r\n" + std::string(lines) + "\r\n")->keep_alive();
    };
    EXPECT_TRUE(of("1", ""));
    EXPECT_TRUE(of("2", ""));
    EXPECT_FALSE(of("0", ""));
    EXPECT_TRUE(of("1", "Connection: Keep-Alive\r\n"));
    EXPECT_TRUE(of("0", "Connection: keep-alive\r\n"));
    EXPECT_FALSE(of("1", "Connection: close\r\n"));
    EXPECT_FALSE(of("1", "Connection: keep-alive, CLOSE\r\n"));
    EXPECT_FALSE(of("0", "Connection: keep-alive, close\r\n"));
    EXPECT_FALSE(of("1", "Connection: foo\r\nConnection: close\r\n"));
    EXPECT_FALSE(of("1", "Connection: foo ,\t close\r\n"));
    EXPECT_TRUE(of("1", "Connection: \"close\"\r\n"));
    EXPECT_TRUE(of("1", "Connection: closed\r\n"));
    EXPECT_TRUE(of("1", "Connection: \r\n"));
    EXPECT_FALSE(of("0", "Connection: keep-alivf\r\n"));
}

TEST(request_head, upgrade_and_expectation) {
    const auto of = [](std::string_view rest) { return parsed("GET / HTTP/1." + std::string(rest) + "\r\n"); };
    EXPECT_TRUE(of("1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n")->wants_upgrade());
    EXPECT_FALSE(of("1\r\nHost: h\r\nUpgrade: websocket\r\n")->wants_upgrade());
    EXPECT_FALSE(of("1\r\nHost: h\r\nConnection: Upgrade\r\n")->wants_upgrade());
    EXPECT_FALSE(of("0\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")->wants_upgrade());
    EXPECT_TRUE(of("1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n")->expects_continue());
    EXPECT_TRUE(of("1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n")->expects_continue());
    EXPECT_FALSE(of("1\r\nHost: h\r\nExpect: 100-continue\r\n")->expects_continue());
    EXPECT_FALSE(of("1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n")->expects_continue());
    EXPECT_FALSE(of("0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n")->expects_continue());
}

TEST(request_head, upgrade_to_a_protocol) {
    const auto of = [](std::string_view lines) {
        return parsed("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n" + std::string(lines) + "\r\n");
    };
    EXPECT_TRUE(of("Upgrade: websocket\r\n")->wants_upgrade_to("websocket"));
    EXPECT_TRUE(of("Upgrade: h2c , WebSocket\r\n")->wants_upgrade_to("websocket"));
    EXPECT_TRUE(of("Upgrade: h2c\r\nUpgrade: websocket\r\n")->wants_upgrade_to("websocket"));
    EXPECT_FALSE(of("Upgrade: h2c, websocket2\r\n")->wants_upgrade_to("websocket"));
    EXPECT_FALSE(of("Upgrade: web socket\r\n")->wants_upgrade_to("socket"));
    EXPECT_FALSE(of("X: websocket\r\n")->wants_upgrade_to("websocket"));
    EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n")->wants_upgrade_to("websocket"));
}

TEST(request_head, fields_by_id_and_name) {
    const std::string long_name(300, 'L');
    const parsed head("GET / HTTP/1.1\r\nHost: h\r\nX-Own: 1\r\naccept: a\r\nTE: trailers\r\nAccept: b\r\nx-own: 2\r\nE:\r\n" + long_name +
                      ":  long  \r\nLocation: x\r\n\r\n");
    EXPECT_EQ(head->field_count(), 9u);
    EXPECT_EQ(head->field(http::field_id::host), "h");
    EXPECT_EQ(head->field(http::field_id::accept), "a");
    EXPECT_TRUE(head->is_repeated(http::field_id::accept));
    EXPECT_FALSE(head->is_repeated(http::field_id::host));
    EXPECT_EQ(head->field(http::field_id::te), "trailers");
    EXPECT_EQ(head->field(http::field_id::cookie), std::nullopt);
    EXPECT_EQ(head->field(http::field_id::other), std::nullopt);
    EXPECT_EQ(head->field(http::field_id::location), std::nullopt);
    EXPECT_FALSE(head->has(http::field_id::etag));
    EXPECT_EQ(head->field("X-OWN"), "1");
    EXPECT_EQ(head->field("ACCEPT"), "a");
    EXPECT_EQ(head->field("e"), "");
    EXPECT_EQ(head->field("location"), "x");
    EXPECT_EQ(head->field("cookie"), std::nullopt);
    EXPECT_EQ(head->field("nothing"), std::nullopt);
    EXPECT_EQ(head->field(long_name), "long");
    EXPECT_EQ(head->field_at(7).name, long_name);
    EXPECT_EQ(head->field_at(2).name, "accept");
    EXPECT_EQ(head->field_at(2).id, http::field_id::accept);

    std::vector<std::string> names;
    for (const field_view field : *head) names.emplace_back(field.name.substr(0, 8));
    EXPECT_EQ(names, (std::vector<std::string>{"Host", "X-Own", "accept", "TE", "Accept", "x-own", "E", "LLLLLLLL", "Location"}));
}

TEST(request_head, every_interned_name_is_known_by_every_parser) {
    for (std::size_t i = 1; i < http::request_field_ids; ++i) {
        const auto id = static_cast<http::field_id>(i);
        if (id == http::field_id::host || http::is_framing(id)) continue;
        for (const parser_kind kind : testing::kinds) {
            const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n" + std::string(http::text(id)) + ": v\r\n\r\n";
            testing::delivery in(bytes, head_limits());
            ASSERT_TRUE(in.give(bytes.size(), kind).is_complete()) << bytes;
            EXPECT_EQ(in.head().field(id), "v") << bytes;
        }
    }
}

TEST(request_head, follows_its_bytes_and_records) {
    const std::string bytes = "\r\nGET /a?b HTTP/1.1\r\nHost: h\r\nX-Own: 1\r\n\r\nrest";
    const parsed first(bytes);
    const std::string before = testing::told(*first);
    request_head head = *first;
    EXPECT_EQ(head.bytes(), bytes.substr(2, bytes.size() - 6));

    const std::string copy(head.bytes());
    std::vector<field_record> records(head.records(), head.records() + head.field_count());
    head.rebase(copy.data());
    head.rebase_records(records.data(), 2);
    EXPECT_EQ(testing::told(head), before);
    EXPECT_EQ(head.path().data(), copy.data() + 4);
}

TEST(parse_status, errors_carry_their_status) {
    EXPECT_EQ(make_error(errc::target_too_long).http_status(), 414);
    EXPECT_EQ(make_error(errc::head_too_large).http_status(), 431);
    EXPECT_EQ(make_error(errc::unknown_expectation).http_status(), 417);
    EXPECT_EQ(make_error(errc::misdirected).http_status(), 421);
    EXPECT_EQ(make_error(errc::unknown_transfer_coding).http_status(), 501);
    EXPECT_EQ(make_error(errc::version_not_supported).http_status(), 505);
    for (int code = 1; code <= static_cast<int>(errc::unknown_expectation); ++code) {
        const error each = make_error(static_cast<errc>(code));
        EXPECT_TRUE(each.is_peer());
        EXPECT_GE(each.http_status(), 400);
        EXPECT_FALSE(each.text().empty());
    }
}

}  // namespace
}  // namespace martlet::http1
