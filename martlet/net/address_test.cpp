// Reading and writing addresses.
#include <martlet/net/address.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/net/error.hpp>

namespace martlet::net {
namespace {

std::string round_trip(std::string_view text) {
    const auto read = address::parse(text);
    return read ? read->text() : "error: " + std::string(read.error().text());
}

void refuses(std::string_view text, net_error why) {
    const auto read = address::parse(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code(), static_cast<int>(why)) << text << ": " << read.error().text();
    EXPECT_EQ(&read.error().category(), &net_category);
    EXPECT_EQ(read.error().who(), blame::local);
}

TEST(address, is_written_as_it_is_read) {
    for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[::]:80", "[fe80::1%2]:443",
                             "[2001:db8::5:0:0:1]:1", "unix:/run/app.sock", "unix:relative", "unix:@name"}) {
        EXPECT_EQ(round_trip(text), text);
    }
    EXPECT_EQ(round_trip("localhost:8080"), "127.0.0.1:8080");
    EXPECT_EQ(round_trip(":8080"), "[::]:8080");
    EXPECT_EQ(round_trip("[::FFFF:1.2.3.4]:80"), "[::ffff:1.2.3.4]:80");
    EXPECT_EQ(round_trip("unix:@@x"), "unix:@@x");
}

TEST(address, says_what_is_wrong) {
    refuses("", net_error::address_empty);
    refuses("127.0.0.1", net_error::port_missing);
    refuses("8080", net_error::port_missing);
    refuses("[::1]", net_error::port_missing);
    for (const char* text : {"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1: 1", "127.0.0.1:80x", "[::1]80",
                             "[::1]:", ":", "localhost:http", "127.0.0.1:99999999999999999999"}) {
        refuses(text, net_error::port_invalid);
    }
    for (const char* text : {"example.org:80", "LOCALHOST:80", "localhost.:80", " 127.0.0.1:80", "*:80", "0x7f.1:80"})
        refuses(text, net_error::host_invalid);
    for (const char* text : {"127.0.0:80", "127.0.0.256:80", "127.0.0.01:80", "127.1:80", "1.2.3.4.5:80", "...:80"})
        refuses(text, net_error::ipv4_invalid);
    refuses("::1:80", net_error::ipv6_without_brackets);
    refuses("2001:db8::1", net_error::ipv6_without_brackets);
    refuses("[::1:80", net_error::bracket_open);
    for (const char* text : {"[]:80", "[127.0.0.1]:80", "[::1::]:80", "[:::]:80", "[12345::]:80", "[localhost]:80"})
        refuses(text, net_error::ipv6_invalid);
    for (const char* text : {"[fe80::1%]:80", "[fe80::1%eth0]:80", "[fe80::1%0]:80", "[fe80::1%4294967296]:80"})
        refuses(text, net_error::scope_invalid);
    refuses("unix:", net_error::unix_name_empty);
    refuses("unix:@", net_error::unix_name_empty);
    refuses("unix:/" + std::string(107, 'x'), net_error::unix_name_long);
    refuses("unix:@" + std::string(107, 'x'), net_error::unix_name_long);
    refuses(std::string_view("unix:/a\0b", 9), net_error::unix_path_nul);
    refuses(std::string_view("127.0.0.1\0:80", 13), net_error::host_invalid);
    refuses(std::string_view("[::1\0]:80", 9), net_error::ipv6_invalid);
}

TEST(address, of_the_greatest_length_fits) {
    const std::string path = "/" + std::string(106, 'x');
    const auto made = address::unix_path(path);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->name(), path);
    EXPECT_LE(made->size(), address::storage_bytes);
    EXPECT_EQ(address::from_system(made->data(), made->size()), *made);
    const auto name = address::unix_abstract(std::string(106, 'y'));
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(name->name(), std::string(106, 'y'));
    EXPECT_EQ(address::from_system(name->data(), name->size()), *name);
}

TEST(address, tells_its_parts) {
    const auto v6 = address::parse("[fe80::1%7]:443").value();
    EXPECT_EQ(v6.family(), address_family::ipv6);
    EXPECT_EQ(v6.port(), 443);
    EXPECT_EQ(v6.scope_id(), 7u);
    EXPECT_EQ(v6.host().size(), 16u);
    EXPECT_EQ(v6.host()[0], 0xfe);
    EXPECT_EQ(v6.with_port(1).text(), "[fe80::1%7]:1");
    EXPECT_TRUE(address::ipv4(127, 9, 9, 9, 1).is_loopback());
    EXPECT_TRUE(address::ipv6_loopback(1).is_loopback());
    EXPECT_TRUE(address::parse("[::ffff:127.0.0.1]:1")->is_loopback());
    EXPECT_FALSE(address::ipv6_any(1).is_loopback());
    EXPECT_TRUE(address::ipv6_any(1).is_any());
    EXPECT_TRUE(address::ipv4_any(1).is_any());
    EXPECT_FALSE(address::unix_path("/x")->is_any());
    EXPECT_FALSE(address());
    EXPECT_EQ(address().text(), "");
    const unsigned short unnamed = 1;  // AF_UNIX with nothing behind it
    EXPECT_EQ(address::from_system(&unnamed, 2).family(), address_family::unix_unnamed);
    EXPECT_EQ(address::from_system(&unnamed, 2).text(), "unix:");
    EXPECT_EQ(address::from_system(&unnamed, 1).family(), address_family::none);
    const unsigned short unknown[8] = {40};
    EXPECT_EQ(address::from_system(unknown, sizeof unknown).family(), address_family::none);
}

TEST(address, ipv4_in_ipv6_can_be_unmapped) {
    EXPECT_EQ(address::parse("[::ffff:1.2.3.4]:80")->unmapped().text(), "1.2.3.4:80");
    EXPECT_EQ(address::parse("[::1]:80")->unmapped().text(), "[::1]:80");
    EXPECT_EQ(address::unix_path("/x")->unmapped().text(), "unix:/x");
}

TEST(address, is_ordered_by_family_host_port) {
    const address a = address::ipv4(1, 2, 3, 4, 80);
    EXPECT_EQ(a, address::parse("1.2.3.4:80").value());
    EXPECT_NE(a, a.with_port(81));
    EXPECT_LT(a.with_port(65535), address::ipv4(1, 2, 3, 5, 1));
    EXPECT_LT(a, address::ipv6_any(0));
    EXPECT_LT(address::parse("[fe80::1%1]:1").value(), address::parse("[fe80::1%2]:1").value());
    EXPECT_LT(address::unix_path("/a").value(), address::unix_path("/b").value());
    EXPECT_NE(address::unix_path("a").value(), address::unix_abstract("a").value());
}

TEST(net_error, has_a_text_for_each_code) {
    for (int code = 1; code <= static_cast<int>(net_error::file_unreadable); ++code) {
        EXPECT_NE(net_category.text(code), net_category.text(0)) << code;
    }
    EXPECT_TRUE(make_error(net_error::ended_early).is_peer());
}

}  // namespace
}  // namespace martlet::net
