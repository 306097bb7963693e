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
