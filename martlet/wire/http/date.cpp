#include <martlet/wire/http/date.hpp>

#include <algorithm>

namespace martlet::inline v0::http {

namespace {

constexpr char day_names[] = "SunMonTueWedThuFriSat";
constexpr char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view long_day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::int64_t day_seconds = 86400;

struct civil_date {
    std::int64_t year;
    int month;  // 1 to 12
    int day;    // 1 to 31
};

// Days count from 1970-01-01. Both ways work on years that begin in March, in eras of 400 years, so that the leap day comes last.
constexpr std::int64_t era_days = 146097;
constexpr std::int64_t days_to_1970 = 719468;  // from 0000-03-01

constexpr std::int64_t days_of(const civil_date& date) noexcept {
    const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
    return era * era_days + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - days_to_1970;
}

constexpr civil_date date_of(std::int64_t days) noexcept {
    days += days_to_1970;
    const std::int64_t era = (days >= 0 ? days : days - era_days + 1) / era_days;
    const std::int64_t day_of_era = days - era * era_days;
    const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int month_from_march = static_cast<int>((5 * day_of_year + 2) / 153);
    const int day = static_cast<int>(day_of_year) - (153 * month_from_march + 2) / 5 + 1;
    const int month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

static_assert(days_of({1970, 1, 1}) == 0 && days_of({2000, 2, 29}) == 11016);
static_assert(days_of({0, 1, 1}) * day_seconds == date_seconds_min && (days_of({10000, 1, 1}) * day_seconds) - 1 == date_seconds_max);

constexpr bool is_leap(std::int64_t year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr int days_in(std::int64_t year, int month) noexcept {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

void write_two(char* out, int number) noexcept {
    out[0] = static_cast<char>('0' + number / 10);
    out[1] = static_cast<char>('0' + number % 10);
}

// Takes one piece of a date after another off the front of a text; once one was not there, all that follows fails as well.
class reader {
public:
    explicit reader(std::string_view text) noexcept : text_(text) {}

    bool is_good() const noexcept { return good_; }
    bool is_at_end() const noexcept { return good_ && text_.empty(); }

    void literal(std::string_view wanted) noexcept {
        if (good_ && text_.starts_with(wanted)) {
            text_.remove_prefix(wanted.size());
        } else {
            good_ = false;
        }
    }

    int digits(std::size_t count) noexcept {
        if (text_.size() < count) good_ = false;
        int number = 0;
        for (std::size_t i = 0; good_ && i < count; ++i) {
            if (text_[i] < '0' || text_[i] > '9') good_ = false;
            number = number * 10 + (text_[i] - '0');
        }
        if (!good_) return 0;
        text_.remove_prefix(count);
        return number;
    }

    // asctime pads the day with a space.
    int padded_day() noexcept {
        if (good_ && text_.starts_with(' ')) {
            text_.remove_prefix(1);
            return digits(1);
        }
        return digits(2);
    }

    // The place, from 0, of a three-letter name in `names`; names are case-sensitive.
    int name(std::string_view names) noexcept {
        for (std::size_t i = 0; good_ && i < names.size(); i += 3) {
            if (text_.starts_with(names.substr(i, 3))) {
                text_.remove_prefix(3);
                return static_cast<int>(i / 3);
            }
        }
        good_ = false;
        return 0;
    }
    void day_name() noexcept { name(day_names); }
    int month() noexcept { return name(month_names) + 1; }

    // Seconds into the day.
    int time() noexcept {
        const int hour = digits(2);
        literal(":");
        const int minute = digits(2);
        literal(":");
        const int second = digits(2);
        if (hour > 23 || minute > 59 || second > 60) good_ = false;
        return hour * 3600 + minute * 60 + std::min(second, 59);
    }

private:
    std::string_view text_;
    bool good_ = true;
};

std::optional<std::int64_t> seconds_of(const reader& rest, const civil_date& date, int seconds) noexcept {
    if (!rest.is_at_end() || date.day < 1 || date.day > days_in(date.year, date.month)) return std::nullopt;
    return days_of(date) * day_seconds + seconds;
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<std::int64_t> parse_fixdate(std::string_view text) noexcept {
    reader in(text);
    in.day_name();
    in.literal(", ");
    const int day = in.digits(2);
    in.literal(" ");
    const int month = in.month();
    in.literal(" ");
    const int year = in.digits(4);
    in.literal(" ");
    const int seconds = in.time();
    in.literal(" GMT");
    return seconds_of(in, {year, month, day}, seconds);
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<std::int64_t> parse_rfc850(std::string_view text, std::int64_t now_seconds) noexcept {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    if (std::find(std::begin(long_day_names), std::end(long_day_names), text.substr(0, comma)) == std::end(long_day_names)) {
        return std::nullopt;
    }
    reader in(text.substr(comma));
    in.literal(", ");
    const int day = in.digits(2);
    in.literal("-");
    const int month = in.month();
    in.literal("-");
    const int two_digits = in.digits(2);
    in.literal(" ");
    const int seconds = in.time();
    in.literal(" GMT");
    if (!in.is_at_end()) return std::nullopt;

    // RFC 9110 section 5.6.7: what seems more than 50 years ahead was the last such year.
    now_seconds = std::clamp(now_seconds, date_seconds_min, date_seconds_max);
    const std::int64_t year_now = date_of((now_seconds - date_seconds_min) / day_seconds + date_seconds_min / day_seconds).year;
    std::int64_t year = year_now - year_now % 100 + two_digits + 100;
    while (year > year_now + 50) year -= 100;
    if (year < 0 || year > 9999) return std::nullopt;
    return seconds_of(in, {year, month, day}, seconds);
}

// Sun Nov  6 08:49:37 1994
std::optional<std::int64_t> parse_asctime(std::string_view text) noexcept {
    reader in(text);
    in.day_name();
    in.literal(" ");
    const int month = in.month();
    in.literal(" ");
    const int day = in.padded_day();
    in.literal(" ");
    const int seconds = in.time();
    in.literal(" ");
    const int year = in.digits(4);
    return seconds_of(in, {year, month, day}, seconds);
}

}  // namespace

char* write_date(char* out, std::int64_t unix_seconds) noexcept {
    const std::int64_t from_year_0 = std::clamp(unix_seconds, date_seconds_min, date_seconds_max) - date_seconds_min;
    const std::int64_t days_from_year_0 = from_year_0 / day_seconds;
    const int seconds = static_cast<int>(from_year_0 % day_seconds);
    const civil_date date = date_of(days_from_year_0 + date_seconds_min / day_seconds);
    const std::string_view day_name = std::string_view(day_names).substr(static_cast<std::size_t>((days_from_year_0 + 6) % 7) * 3, 3);
    const std::string_view month_name = std::string_view(month_names).substr(static_cast<std::size_t>(date.month - 1) * 3, 3);

    std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").copy(out, date_bytes);
    day_name.copy(out, 3);
    write_two(out + 5, date.day);
    month_name.copy(out + 8, 3);
    write_two(out + 12, static_cast<int>(date.year / 100));
    write_two(out + 14, static_cast<int>(date.year % 100));
    write_two(out + 17, seconds / 3600);
    write_two(out + 20, seconds / 60 % 60);
    write_two(out + 23, seconds % 60);
    return out + date_bytes;
}

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now_seconds) noexcept {
    if (text.size() < 24) return std::nullopt;
    if (text[3] == ',') return parse_fixdate(text);
    if (text[3] == ' ') return parse_asctime(text);
    return parse_rfc850(text, now_seconds);
}

}  // namespace martlet::inline v0::http
