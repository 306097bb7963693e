#include <martlet/wire/http/conditional.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

// Sat, 29 Oct 1994 19:43:31 GMT, the date in the examples of RFC 9110 section 13.
constexpr std::int64_t changed = 783459811;
constexpr std::string_view at_change = "Sat, 29 Oct 1994 19:43:31 GMT";
constexpr std::string_view before = "Sat, 29 Oct 1994 19:43:30 GMT";
constexpr std::string_view after = "Sat, 29 Oct 1994 19:43:32 GMT";
constexpr std::int64_t now = changed + 3600;

representation tagged(std::string_view tag) { return representation().etag(etag::parse(tag)).last_modified(changed); }

condition of(method by, const condition_fields& fields, const representation& current = tagged("\"v1\"")) {
    return evaluate(by, fields, current, now);
}

condition_fields fields() { return {}; }

TEST(conditional, without_fields_everything_proceeds) {
    for (int by = 0; by <= static_cast<int>(method::other); ++by) EXPECT_EQ(of(static_cast<method>(by), fields()), condition::proceed);
    EXPECT_TRUE(fields().is_empty());
    EXPECT_FALSE(fields().if_range("x").is_empty());
}

// Section 13.1.1.
TEST(conditional, if_match) {
    for (const method by : {method::get, method::put, method::delete_, method::post}) {
        EXPECT_EQ(of(by, fields().if_match("\"v1\"")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_match("\"v0\", \"v1\"")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_match("\"v0\"")), condition::failed);
        EXPECT_EQ(of(by, fields().if_match("W/\"v1\"")), condition::failed) << "compared strongly";
        EXPECT_EQ(of(by, fields().if_match("*")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_match("*"), representation::none()), condition::failed);
        EXPECT_EQ(of(by, fields().if_match("\"v1\""), representation::none()), condition::failed);
        EXPECT_EQ(of(by, fields().if_match("\"v1\""), representation()), condition::failed);
        EXPECT_EQ(of(by, fields().if_match("v1")), condition::failed);
        EXPECT_EQ(of(by, fields().if_match("")), condition::failed);
    }
    EXPECT_EQ(of(method::put, fields().if_match("\"v1\""), tagged("W/\"v1\"")), condition::failed);
}

// Section 13.1.2.
TEST(conditional, if_none_match) {
    for (const method by : {method::get, method::head}) {
        EXPECT_EQ(of(by, fields().if_none_match("\"v1\"")), condition::not_modified);
        EXPECT_EQ(of(by, fields().if_none_match("W/\"v1\"")), condition::not_modified) << "compared weakly";
        EXPECT_EQ(of(by, fields().if_none_match("\"v0\", W/\"v1\"")), condition::not_modified);
        EXPECT_EQ(of(by, fields().if_none_match("\"v0\"")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_none_match("*")), condition::not_modified);
        EXPECT_EQ(of(by, fields().if_none_match("nonsense")), condition::proceed);
    }
    EXPECT_EQ(of(method::put, fields().if_none_match("*")), condition::failed);
    EXPECT_EQ(of(method::put, fields().if_none_match("*"), representation::none()), condition::proceed);
    EXPECT_EQ(of(method::post, fields().if_none_match("\"v1\"")), condition::failed);
}

// Section 13.1.3.
TEST(conditional, if_modified_since) {
    for (const method by : {method::get, method::head}) {
        EXPECT_EQ(of(by, fields().if_modified_since(at_change)), condition::not_modified);
        EXPECT_EQ(of(by, fields().if_modified_since(after)), condition::not_modified);
        EXPECT_EQ(of(by, fields().if_modified_since(before)), condition::proceed);
        EXPECT_EQ(of(by, fields().if_modified_since("yesterday")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_modified_since(at_change), representation()), condition::proceed) << "no date to compare with";
        EXPECT_EQ(of(by, fields().if_none_match("\"v0\"").if_modified_since(after)), condition::proceed) << "If-None-Match goes before it";
        EXPECT_EQ(of(by, fields().if_none_match("\"v1\"").if_modified_since(before)), condition::not_modified);
    }
    EXPECT_EQ(of(method::post, fields().if_modified_since(after)), condition::proceed);
}

// Section 13.1.4.
TEST(conditional, if_unmodified_since) {
    for (const method by : {method::get, method::put}) {
        EXPECT_EQ(of(by, fields().if_unmodified_since(at_change)), condition::proceed);
        EXPECT_EQ(of(by, fields().if_unmodified_since(after)), condition::proceed);
        EXPECT_EQ(of(by, fields().if_unmodified_since(before)), condition::failed);
        EXPECT_EQ(of(by, fields().if_unmodified_since("yesterday")), condition::proceed);
        EXPECT_EQ(of(by, fields().if_unmodified_since(before), representation()), condition::proceed);
        EXPECT_EQ(of(by, fields().if_match("\"v1\"").if_unmodified_since(before)), condition::proceed) << "If-Match goes before it";
    }
}

// Section 13.1.5.
TEST(conditional, if_range) {
    EXPECT_EQ(of(method::get, fields().if_range("\"v1\"")), condition::proceed);
    EXPECT_EQ(of(method::get, fields().if_range("\"v0\"")), condition::ignore_range);
    EXPECT_EQ(of(method::get, fields().if_range("W/\"v1\"")), condition::ignore_range);
    EXPECT_EQ(of(method::get, fields().if_range("W/\"v1\""), tagged("W/\"v1\"")), condition::ignore_range) << "compared strongly";
    EXPECT_EQ(of(method::get, fields().if_range(at_change)), condition::proceed);
    EXPECT_EQ(of(method::get, fields().if_range(after)), condition::ignore_range) << "exactly the date";
    EXPECT_EQ(of(method::get, fields().if_range(before)), condition::ignore_range);
    EXPECT_EQ(of(method::get, fields().if_range("nonsense")), condition::ignore_range);
    EXPECT_EQ(of(method::head, fields().if_range("\"v0\"")), condition::proceed);
    EXPECT_EQ(evaluate(method::get, fields().if_range(at_change), tagged("\"v1\""), changed), condition::ignore_range)
        << "it may change again in this second";
}

// Section 13.2.2.
TEST(conditional, are_judged_in_their_order) {
    EXPECT_EQ(of(method::get, fields().if_match("\"v0\"").if_none_match("\"v1\"")), condition::failed);
    EXPECT_EQ(of(method::get, fields().if_match("\"v1\"").if_none_match("\"v1\"")), condition::not_modified);
    EXPECT_EQ(of(method::get, fields().if_unmodified_since(before).if_modified_since(after)), condition::failed);
    EXPECT_EQ(of(method::get, fields().if_none_match("\"v1\"").if_range("\"v0\"")), condition::not_modified);
    EXPECT_EQ(of(method::get, fields().if_none_match("\"v0\"").if_range("\"v0\"")), condition::ignore_range);
}

// Section 13.2.1.
TEST(conditional, mean_nothing_to_some_methods) {
    for (const method by : {method::connect, method::options, method::trace}) {
        EXPECT_EQ(of(by, fields().if_match("\"v0\"").if_none_match("*")), condition::proceed);
    }
}

}  // namespace
}  // namespace martlet::http
