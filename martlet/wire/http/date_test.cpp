#include <martlet/wire/http/date.hpp>

#include <gtest/gtest.h>

#include <string>

namespace martlet::http {
namespace {

constexpr std::int64_t now_2024 = 1714560000;  // 1 May 2024

std::string written(std::int64_t seconds) {
    char out[date_bytes + 1];
    out[date_bytes] = '!';
    EXPECT_EQ(write_date(out, seconds), out + date_bytes);
    EXPECT_EQ(out[date_bytes], '!');
    return std::string(out, date_bytes);
}

TEST(write_date, known_days) {
    EXPECT_EQ(written(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(written(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(written(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
    EXPECT_EQ(written(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
    EXPECT_EQ(written(951868800), "Wed, 01 Mar 2000 00:00:00 GMT");
    EXPECT_EQ(written(4107542400), "Mon, 01 Mar 2100 00:00:00 GMT");
    EXPECT_EQ(written(date_seconds_max), "Fri, 31 Dec 9999 23:59:59 GMT");
    EXPECT_EQ(written(date_seconds_min), "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST(write_date, clamps_what_no_date_can_say) {
    EXPECT_EQ(written(INT64_MAX), written(date_seconds_max));
    EXPECT_EQ(written(INT64_MIN), written(date_seconds_min));
}

TEST(parse_date, reads_what_was_written) {
    // A step that is prime to days and leap years.
    for (std::int64_t seconds = date_seconds_min; seconds <= date_seconds_max; seconds += 86400 * 97 + 12347) {
        ASSERT_EQ(parse_date(written(seconds), now_2024), seconds) << written(seconds);
    }
}

TEST(parse_date, the_three_formats) {
    EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now_2024), 784111777);
    EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", now_2024), 784111777);
    EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", now_2024), 784111777);
    EXPECT_EQ(parse_date("Wed Nov 16 08:49:37 1994", now_2024), 784111777 + 10 * 86400);
}

TEST(parse_date, two_digit_years_are_at_most_50_ahead) {
    const auto year_of = [](std::string_view text) { return written(parse_date(text, now_2024).value_or(0)).substr(12, 4); };
    EXPECT_EQ(year_of("Sunday, 06-Nov-74 08:49:37 GMT"), "2074");
    EXPECT_EQ(year_of("Sunday, 06-Nov-75 08:49:37 GMT"), "1975");
    EXPECT_EQ(year_of("Sunday, 06-Nov-24 08:49:37 GMT"), "2024");
    EXPECT_EQ(year_of("Sunday, 06-Nov-00 08:49:37 GMT"), "2000");
}

TEST(parse_date, two_digit_years_name_no_year_that_four_digits_cannot) {
    EXPECT_FALSE(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", date_seconds_min)) << "it would be before the year 0";
    EXPECT_TRUE(parse_date("Sunday, 06-Nov-50 08:49:37 GMT", date_seconds_min));
    EXPECT_FALSE(parse_date("Sunday, 06-Nov-20 08:49:37 GMT", date_seconds_max)) << "it would be in the year 10020";
    EXPECT_TRUE(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", date_seconds_max));
}

TEST(parse_date, leap_seconds_and_leap_days) {
    EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", now_2024), parse_date("Sat, 31 Dec 2016 23:59:59 GMT", now_2024));
    EXPECT_TRUE(parse_date("Thu, 29 Feb 2024 00:00:00 GMT", now_2024));
    EXPECT_TRUE(parse_date("Tue, 29 Feb 2000 00:00:00 GMT", now_2024));
    EXPECT_FALSE(parse_date("Wed, 29 Feb 2023 00:00:00 GMT", now_2024));
    EXPECT_FALSE(parse_date("Mon, 29 Feb 2100 00:00:00 GMT", now_2024));
}

TEST(parse_date, refuses_what_is_no_date) {
    const std::string_view bad[] = {
        "",
        "0",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Xxx, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Xxx 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 +8:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08-49-37 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Funday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov 06 08:49:37 94 GMT",
        "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov   08:49:37 1994 ",
    };
    for (const std::string_view text : bad) EXPECT_FALSE(parse_date(text, now_2024)) << text;
}

TEST(parse_date, any_changed_byte_is_refused_or_another_second) {
    const std::string good = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (std::size_t at = 5; at < good.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string changed = good;
            changed[at] = static_cast<char>(byte);
            const auto seconds = parse_date(changed, now_2024);
            if (changed != good && seconds) {
                EXPECT_NE(*seconds, 784111777) << changed;
            }
        }
    }
}

}  // namespace
}  // namespace martlet::http
