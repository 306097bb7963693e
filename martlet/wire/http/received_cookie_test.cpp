#include <martlet/wire/http/received_cookie.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/date.hpp>
#include <tests/support/public_data.hpp>

namespace martlet::http {
namespace {

constexpr std::int64_t now = 1500000000;

received_cookie read(std::string_view value) { return received_cookie::parse(value, now).value(); }

TEST(received_cookie, name_and_value) {
    EXPECT_EQ(read("SID=31d4d96e407aad42").name(), "SID");
    EXPECT_EQ(read("SID=31d4d96e407aad42").value(), "31d4d96e407aad42");
    EXPECT_EQ(read(" a\t=\t\"b c\" ; x").name(), "a");
    EXPECT_EQ(read(" a\t=\t\"b c\" ; x").value(), "\"b c\"");
    EXPECT_EQ(read("a=b=c").value(), "b=c");
    EXPECT_EQ(read("a=").value(), "");
    for (const std::string_view none : {"", "a", "=b", " = b", ";a=b", "a; b=c", "a=b\x01", "a=b; Path=/\x7f"}) {
        EXPECT_FALSE(received_cookie::parse(none, now)) << none;
    }
    EXPECT_TRUE(received_cookie::parse("a=" + std::string(cookie_bytes_max - 1, 'v'), now));
    EXPECT_FALSE(received_cookie::parse("a=" + std::string(cookie_bytes_max, 'v'), now));
}

TEST(received_cookie, attributes) {
    const received_cookie all = read("a=b; Path=/x; DOMAIN=.Example.com ;secure; HttpOnly=no; SameSite=LAX; Partitioned; other=1");
    EXPECT_EQ(all.path(), "/x");
    EXPECT_EQ(all.domain(), "Example.com");
    EXPECT_TRUE(all.is_secure());
    EXPECT_TRUE(all.is_http_only());
    EXPECT_TRUE(all.is_partitioned());
    EXPECT_EQ(all.same_site(), same_site::lax);
    EXPECT_EQ(all.expires(), std::nullopt);
    EXPECT_EQ(read("a=b; Path=x").path(), std::nullopt);
    EXPECT_EQ(read("a=b; Path=/x; Path").path(), std::nullopt) << "the last one counts";
    EXPECT_EQ(read("a=b; Domain=x; Domain=").domain(), "x") << "an empty one is none";
    EXPECT_EQ(read("a=b; Domain=x; Domain=.").domain(), std::nullopt);
    EXPECT_EQ(read("a=b; SameSite=None; SameSite=x").same_site(), same_site::unset);
    EXPECT_FALSE(read("a=b").is_secure());
    EXPECT_EQ(read("a=b; Path=/" + std::string(cookie_attribute_bytes_max, 'p')).path(), std::nullopt);
}

TEST(received_cookie, max_age_goes_before_expires) {
    EXPECT_EQ(read("a=b; Max-Age=10").expires(), now + 10);
    EXPECT_EQ(read("a=b; Max-Age=0").expires(), now);
    EXPECT_EQ(read("a=b; Max-Age=-99999999999999999999").expires(), now);
    EXPECT_EQ(read("a=b; Max-Age=99999999999999999999").expires(), now + cookie_age_seconds_max);
    EXPECT_EQ(read("a=b; Expires=Fri, 14 Jul 2017 02:40:01 GMT").expires(), now + 1);
    EXPECT_EQ(read("a=b; Expires=Fri, 14 Jul 2117 02:40:01 GMT").expires(), now + cookie_age_seconds_max);
    EXPECT_EQ(read("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT").expires(), 0);
    EXPECT_EQ(read("a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT").expires(), now + 10);
    EXPECT_EQ(read("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10").expires(), now + 10);
    for (const std::string_view bad : {"a=b; Max-Age=", "a=b; Max-Age=+1", "a=b; Max-Age=1s", "a=b; Max-Age=-", "a=b; Expires=soon"}) {
        EXPECT_EQ(read(bad).expires(), std::nullopt) << bad;
    }
}

TEST(received_cookie, a_prefix_is_kept_or_the_cookie_ignored) {
    EXPECT_FALSE(received_cookie::parse("__Secure-a=b", now));
    EXPECT_TRUE(received_cookie::parse("__Secure-a=b; Secure", now));
    EXPECT_TRUE(received_cookie::parse("__Host-a=b; Secure; Path=/", now));
    EXPECT_FALSE(received_cookie::parse("__Host-a=b; Secure", now));
    EXPECT_FALSE(received_cookie::parse("__host-a=b; Secure; Path=/; Domain=x", now));
}

TEST(received_cookie, what_was_set_is_read) {
    const std::string value = set_cookie("a", "b")
                                  .path("/p")
                                  .domain("d.example")
                                  .max_age(60)
                                  .secure()
                                  .http_only()
                                  .same_site(same_site::none)
                                  .partitioned()
                                  .text()
                                  .value();
    const received_cookie back = read(value);
    EXPECT_EQ(back.name(), "a");
    EXPECT_EQ(back.value(), "b");
    EXPECT_EQ(back.path(), "/p");
    EXPECT_EQ(back.domain(), "d.example");
    EXPECT_EQ(back.expires(), now + 60);
    EXPECT_TRUE(back.is_secure() && back.is_http_only() && back.is_partitioned());
    EXPECT_EQ(back.same_site(), same_site::none);
}

TEST(cookie_date, in_many_forms) {
    for (const std::string_view text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                                        "1994 8:49:37 nov-6", "6/NOVEMBER/94 8:49:37am", "08:49:37 06 Nov 1994x"}) {
        EXPECT_EQ(parse_cookie_date(text), 784111777) << text;
    }
    EXPECT_EQ(parse_cookie_date("1 Jan 70 0:0:0"), 0);
    EXPECT_EQ(parse_cookie_date("1 Jan 69 0:0:0"), 3124224000);
    for (const std::string_view text : {"", "6 Nov 1994", "08:49:37 Nov 1994", "08:49:37 6 1994", "08:49:37 6 Nov", "08:49:37 31 Feb 1994",
                                        "24:00:00 6 Nov 1994", "08:60:00 6 Nov 1994", "08:49:60 6 Nov 1994", "08:49:37 6 Nov 1600",
                                        "08:49:37 6 Nov 19940", "008:49:37 6 Nov 1994", "08:49:37 0 Nov 1994"}) {
        EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
    }
}

// --- public cases: what a client that got these fields sends afterwards ---

TEST(cookie_date, public_cases) {
    for (const std::string path : {"cookies/dates/examples.json", "cookies/dates/bsd-examples.json"}) {
        const std::string text = testing::public_data(path);
        if (text.empty()) GTEST_SKIP() << testing::no_public_data(path);
        std::vector<std::string> strings;
        for (const testing::json_token& token : testing::json_tokens(text)) {
            if (token.kind == '"' || token.kind == 'w') strings.push_back(token.kind == 'w' ? "" : token.text);
        }
        // "test", the date, "expected", what it is or null.
        ASSERT_GE(strings.size(), 4 * 15u);
        for (std::size_t i = 0; i + 3 < strings.size(); i += 4) {
            ASSERT_EQ(strings[i], "test");
            const auto seconds = parse_cookie_date(strings[i + 1]);
            char written[date_bytes];
            if (seconds) write_date(written, *seconds);
            EXPECT_EQ(seconds ? std::string(written, date_bytes) : "", strings[i + 3]) << strings[i + 1];
        }
    }
}

struct kept_cookie {
    std::string name, value, domain, path;
    bool host_only;
};

bool is_below(std::string_view host, std::string_view domain) {
    return scan::equal_ignoring_case(host, domain) || (host.size() > domain.size() && host[host.size() - domain.size() - 1] == '.' &&
                                                       scan::equal_ignoring_case(host.substr(host.size() - domain.size()), domain));
}

bool is_path_below(std::string_view path, std::string_view of) {
    return path.starts_with(of) && (path.size() == of.size() || of.ends_with('/') || path[of.size()] == '/');
}

// The least that can keep cookies: one server, one request, then another request.
class small_jar {
public:
    void take(std::string_view field) {
        const auto got = received_cookie::parse(field, now);
        if (!got || got->is_secure() || (got->domain() && !is_below("home.example.org", *got->domain()))) return;
        kept_cookie one{std::string(got->name()), std::string(got->value()), std::string(got->domain().value_or("home.example.org")),
                        std::string(got->path().value_or("/")), !got->domain()};
        std::erase_if(kept_, [&](const kept_cookie& old) {
            return old.name == one.name && scan::equal_ignoring_case(old.domain, one.domain) && old.path == one.path;
        });
        if (got->expires() && *got->expires() <= now) return;
        // Longer paths first, and of those alike the older.
        const auto place =
            std::upper_bound(kept_.begin(), kept_.end(), one, [](const auto& a, const auto& b) { return a.path.size() > b.path.size(); });
        kept_.insert(place, one);
    }

    std::string sent(std::string_view host, std::string_view path) const {
        std::string out;
        for (const kept_cookie& one : kept_) {
            if (one.host_only ? !scan::equal_ignoring_case(host, one.domain) : !is_below(host, one.domain)) continue;
            if (is_path_below(path, one.path)) out += one.name + "=" + one.value + "\n";
        }
        return out;
    }

private:
    std::vector<kept_cookie> kept_;
};

struct jar_case {
    std::string id, sent, host = "home.example.org", path = "/cookie-parser-result";
    std::vector<std::string> received;
};

std::vector<jar_case> cases_of(std::string_view text) {
    std::vector<jar_case> cases;
    std::string key;
    std::string name;
    int depth = 0;
    bool is_value = false;
    for (const testing::json_token& token : testing::json_tokens(text)) {
        if (token.kind == '{' || token.kind == '[') ++depth;
        if (token.kind == '}' || token.kind == ']') --depth;
        if (token.kind == '{' && depth == 2) cases.emplace_back();
        if (token.kind == ':') is_value = true;
        if (token.kind == ',' || token.kind == '{') is_value = false;
        if (token.kind != '"') continue;
        jar_case& one = cases.back();
        if (depth == 2 && !is_value) key = token.text;
        if (depth == 2 && is_value && key == "test") one.id = token.text;
        if (depth == 3 && key == "received") one.received.push_back(token.text);
        if (depth == 4 && !is_value) name = token.text;
        if (depth == 4 && is_value) one.sent += token.text + (name == "name" ? "=" : "\n");
        if (depth == 2 && is_value && key == "sent-to") {
            std::string_view target = token.text;
            if (target.starts_with("http://")) {
                one.host = target.substr(7, target.find(':', 7) - 7);
                target = target.substr(target.find('/', 7));
            }
            one.path = target.substr(0, target.find('?'));
        }
    }
    return cases;
}

TEST(received_cookie, public_cases) {
    const std::string path = "cookies/parser.json";
    const std::string text = testing::public_data(path);
    if (text.empty()) GTEST_SKIP() << testing::no_public_data(path);
    std::size_t tried = 0;
    std::vector<std::string> differ;
    for (const jar_case& one : cases_of(text)) {
        ++tried;
        small_jar jar;
        for (const std::string& field : one.received) jar.take(field);
        const std::string sent = jar.sent(one.host, one.path);
        if (sent != one.sent) differ.push_back(one.id);
    }
    EXPECT_EQ(tried, 222u);
    // Three are switched off where they come from: values cut at a line end, escapes in paths. DOMAIN0017 needs a list of public suffixes.
    const std::vector<std::string> expected = {"DISABLED_CHROMIUM0022", "DISABLED_CHROMIUM0023", "DISABLED_PATH0029", "DOMAIN0017"};
    EXPECT_EQ(differ, expected);
}

}  // namespace
}  // namespace martlet::http
