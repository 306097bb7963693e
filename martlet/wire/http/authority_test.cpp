#include <martlet/wire/http/authority.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

TEST(authority, hosts_and_ports) {
    const auto plain = authority::parse("www.Example.com");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->host(), "www.Example.com");
    EXPECT_FALSE(plain->port());
    EXPECT_EQ(plain->port_or(80), 80);

    const auto with_port = authority::parse("[::1]:8080");
    ASSERT_TRUE(with_port);
    EXPECT_EQ(with_port->host(), "[::1]");
    EXPECT_EQ(with_port->port(), 8080);

    EXPECT_FALSE(authority::parse("a:")->port());
    EXPECT_EQ(authority::parse("a:0")->port(), 0);
    EXPECT_EQ(authority::parse("a:65535")->port(), 65535);
    EXPECT_EQ(authority::parse("a:00080")->port(), 80);
}

TEST(authority, accepts_the_grammar) {
    for (const std::string_view text : {"a", "127.0.0.1:8080", "a_b.example", "a%41", "%e4:80", "a!$&'()*+;=~", "[::]", "[1::]",
                                        "[::1.2.3.4]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:1.2.3.4]", "[1::8]:1", "[v1.a:b]", "999.1"}) {
        EXPECT_TRUE(authority::parse(text)) << text;
    }
}

TEST(authority, refuses_the_rest) {
    for (const std::string_view text : {"",
                                        ":80",
                                        "a b",
                                        "a,b",
                                        "a, b",
                                        "a/b",
                                        "a?x",
                                        "a#x",
                                        "u@a",
                                        "u:p@a",
                                        "http://a",
                                        "a:8o",
                                        "a:80:80",
                                        "a:-1",
                                        "a:+1",
                                        "a: 80",
                                        "a:65536",
                                        "a:123456",
                                        "a:99999999999999999999",
                                        "::1",
                                        "[::1",
                                        "::1]",
                                        "[::1]a",
                                        "[::1]8080",
                                        "[]",
                                        "[:]",
                                        "[:::]",
                                        "[1::2::3]",
                                        "[1:2:3:4:5:6:7]",
                                        "[1:2:3:4:5:6:7:8:9]",
                                        "[::1:2:3:4:5:6:7:8]",
                                        "[12345::]",
                                        "[g::]",
                                        "[::1%25eth0]",
                                        "[1.2.3.4]",
                                        "[::256.1.1.1]",
                                        "[::1.2.3]",
                                        "[::01.2.3.4]",
                                        "[1:]",
                                        "[:1]",
                                        "[v.a]",
                                        "[v1.]",
                                        "[vg.a]",
                                        "a%4",
                                        "a%",
                                        "a%zz",
                                        "a\\b",
                                        "a\"",
                                        "a<",
                                        "a\x7f",
                                        "b\xc3\xbc.example",
                                        "a|b",
                                        "a^",
                                        "a`",
                                        "a{}"}) {
        EXPECT_FALSE(authority::parse(text)) << text;
    }
    EXPECT_FALSE(authority::parse(std::string_view("a\0b", 3)));
    EXPECT_EQ(authority::parse("").error().http_status(), 400);
    EXPECT_TRUE(authority::parse("").error().is_peer());
}

}  // namespace
}  // namespace martlet::http
