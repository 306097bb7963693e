#include <martlet/wire/http/method.hpp>
#include <martlet/wire/http/status.hpp>

#include <gtest/gtest.h>

namespace martlet::http {
namespace {

TEST(method, text_and_back) {
    for (int i = 0; i < static_cast<int>(method::other); ++i) {
        EXPECT_EQ(method_of(text(static_cast<method>(i))), static_cast<method>(i));
        EXPECT_FALSE(text(static_cast<method>(i)).empty());
    }
    EXPECT_EQ(text(method::delete_), "DELETE");
    EXPECT_EQ(text(method::other), "");
    for (const std::string_view token : {"", "get", "GE", "GETS", "BREW"}) EXPECT_EQ(method_of(token), method::other) << token;
}

TEST(method, safe_and_idempotent) {
    EXPECT_TRUE(is_safe(method::get));
    EXPECT_FALSE(is_safe(method::put));
    EXPECT_TRUE(is_idempotent(method::put));
    EXPECT_TRUE(is_idempotent(method::delete_));
    EXPECT_FALSE(is_idempotent(method::post));
    EXPECT_FALSE(is_idempotent(method::patch));
    EXPECT_FALSE(is_idempotent(method::other));
}

// RFC 9110 section 9.2 and RFC 5789: a method is in both lists, in one or in none.
TEST(method, properties_as_registered) {
    for (int i = 0; i <= static_cast<int>(method::other); ++i) {
        const method m = static_cast<method>(i);
        const bool safe = m == method::get || m == method::head || m == method::options || m == method::trace;
        EXPECT_EQ(is_safe(m), safe) << text(m);
        EXPECT_EQ(is_idempotent(m), safe || m == method::put || m == method::delete_) << text(m);
    }
}

// The IANA registry: which statuses have a name.
TEST(status, every_registered_one_has_a_reason) {
    const auto named = [](int status) {
        constexpr int gaps[] = {306, 418, 427, 430, 509};
        for (const int gap : gaps) {
            if (status == gap) return false;
        }
        return (status >= 100 && status <= 103) || (status >= 200 && status <= 208) || status == 226 || (status >= 300 && status <= 308) ||
               (status >= 400 && status <= 417) || (status >= 421 && status <= 431) || status == 451 || (status >= 500 && status <= 511);
    };
    for (int status = 0; status < 1000; ++status) EXPECT_EQ(!reason(status).empty(), named(status)) << status;
}

TEST(status, reasons_and_kinds) {
    EXPECT_EQ(reason(200), "OK");
    EXPECT_EQ(reason(413), "Content Too Large");
    EXPECT_EQ(reason(418), "");
    EXPECT_EQ(reason(299), "");
    EXPECT_TRUE(forbids_content(100));
    EXPECT_TRUE(forbids_content(204));
    EXPECT_TRUE(forbids_content(304));
    EXPECT_FALSE(forbids_content(200));
    EXPECT_FALSE(forbids_content(205));
    EXPECT_FALSE(is_valid_status(99));
    EXPECT_FALSE(is_valid_status(600));
}

}  // namespace
}  // namespace martlet::http
