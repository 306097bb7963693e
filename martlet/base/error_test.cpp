#include <martlet/base/error.hpp>

#include <cerrno>
#include <type_traits>

#include <gtest/gtest.h>

#include <martlet/base/result.hpp>

namespace martlet {
namespace {

static_assert(std::is_trivially_copyable_v<error> && sizeof(error) == 16);

TEST(error, a_deadline_is_a_timeout_and_no_cancellation) {
    const error e(cancel_reason::timed_out);
    EXPECT_TRUE(e.is_timeout());
    EXPECT_FALSE(e.is_cancelled());
    EXPECT_TRUE(e.is_retryable());
    EXPECT_EQ(e.http_status(), 504);
    EXPECT_EQ(e.who(), blame::system);
    EXPECT_EQ(e.reason(), cancel_reason::timed_out);
    EXPECT_EQ(e.text(), "timed out");
}

TEST(error, the_other_reasons_are_cancellations) {
    for (const cancel_reason why : {cancel_reason::cancelled, cancel_reason::peer_gone, cancel_reason::shutting_down}) {
        const error e(why);
        EXPECT_TRUE(e.is_cancelled());
        EXPECT_FALSE(e.is_timeout());
        EXPECT_FALSE(e.is_retryable());
        EXPECT_EQ(e.reason(), why);
        EXPECT_EQ(e.is_peer(), why == cancel_reason::peer_gone);
        EXPECT_FALSE(e.text().empty());
    }
    EXPECT_EQ(error(cancel_reason::shutting_down).http_status(), 503);
    EXPECT_EQ(error(cancel_reason::cancelled).http_status(), 500);
}

TEST(error, system_errors_name_whom_to_blame) {
    const error reset = error::system(ECONNRESET);
    EXPECT_TRUE(reset.is_peer());
    EXPECT_TRUE(reset.is_system(ECONNRESET));
    EXPECT_FALSE(reset.is_system(EPIPE));
    EXPECT_EQ(reset.reason(), cancel_reason::none);
    EXPECT_FALSE(reset.is_timeout());
    EXPECT_FALSE(reset.is_cancelled());
    EXPECT_EQ(reset.code(), ECONNRESET);
    EXPECT_EQ(reset.text(), "Connection reset by peer");

    const error full = error::system(EMFILE);
    EXPECT_FALSE(full.is_peer());
    EXPECT_TRUE(full.is_retryable());
    EXPECT_EQ(full.http_status(), 503);

    const error denied = error::system(EACCES);
    EXPECT_FALSE(denied.is_retryable());
    EXPECT_EQ(denied.http_status(), 500);
    EXPECT_EQ(error::system(1'000'000).text(), "unknown system error");
    EXPECT_FALSE(error::system(ETIMEDOUT).is_timeout()) << "only a deadline of the program is a timeout";
}

TEST(error, a_code_of_another_category_is_another_error) {
    EXPECT_EQ(error::system(EPIPE), error::system(EPIPE));
    EXPECT_NE(error::system(EPIPE), error::system(ECONNRESET));
    const int code = static_cast<int>(cancel_reason::timed_out);
    EXPECT_NE(error::system(code), error(cancel_reason::timed_out));
    EXPECT_FALSE(error::system(code).is_timeout());
}

TEST(error, a_category_of_its_own) {
    static constexpr error_category colours("colour", [](int code) noexcept { return std::string_view(code == 1 ? "too red" : "wrong"); });
    constexpr error e(colours, 1, blame::peer, 400);
    EXPECT_EQ(e.text(), "too red");
    EXPECT_EQ(e.category().name(), "colour");
    EXPECT_EQ(e.http_status(), 400);
    EXPECT_TRUE(e.is_peer());
    EXPECT_FALSE(e.is_cancelled());
}

TEST(result, holds_a_value_or_the_error) {
    const auto half = [](int n) -> result<int> {
        if (n % 2 != 0) return failure(error::system(EDOM));
        return n / 2;
    };
    EXPECT_EQ(half(4).value(), 2);
    ASSERT_FALSE(half(3));
    EXPECT_TRUE(half(3).error().is_system(EDOM));
    EXPECT_THROW(static_cast<void>(half(3).value()), std::bad_expected_access<error>);
    static_assert(is_result<result<int>> && is_result<result<void>> && !is_result<int>);
}

}  // namespace
}  // namespace martlet
