#include <martlet/wire/http/received_cookie.hpp>

#include <algorithm>
#include <charconv>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/date.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_digit(char c) noexcept { return scan::is_in(scan::byte_class::digit, c); }

// Between the tokens of a date: all printable ASCII but letters, digits and ':'; also HTAB.
bool is_delimiter(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte <= 0x2f) || (byte >= 0x3b && byte <= 0x40) || (byte >= 0x5b && byte <= 0x60) ||
           (byte >= 0x7b && byte <= 0x7e);
}

// Takes up to `digits_max` digits off `text`; -1 when there are fewer than `digits_min` or more than that.
int take_number(std::string_view& text, std::size_t digits_min, std::size_t digits_max) noexcept {
    int number = 0;
    std::size_t count = 0;
    for (; count < text.size() && is_digit(text[count]); ++count) {
        if (count == digits_max) return -1;
        number = number * 10 + (text[count] - '0');
    }
    text.remove_prefix(count);
    return count < digits_min ? -1 : number;
}

// hms-time, then anything that does not begin with a digit.
bool read_time(std::string_view text, int (&time)[3]) noexcept {
    int found[3];
    for (int i = 0; i < 3; ++i) {
        if (i > 0) {
            if (!text.starts_with(':')) return false;
            text.remove_prefix(1);
        }
        found[i] = take_number(text, 1, 2);
        if (found[i] < 0) return false;
    }
    std::copy(found, found + 3, time);
    return true;
}

int read_month(std::string_view text) noexcept {
    constexpr std::string_view names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
    for (int i = 0; i < 12; ++i) {
        if (scan::equal_ignoring_case(text.substr(0, 3), names[i])) return i;
    }
    return -1;
}

// The parts of a date as they are found; -1 is not found yet.
struct date_parts {
    int time[3] = {-1, -1, -1};
    int day = -1;
    int month = -1;
    int year = -1;

    // Section 5.1.1, step 2: a token is the first of these that it can be and that is not found yet.
    void take(std::string_view token) noexcept {
        if (time[0] < 0 && read_time(token, time)) return;
        if (day < 0) {
            std::string_view rest = token;
            day = take_number(rest, 1, 2);
            if (day >= 0) return;
        }
        if (month < 0) {
            month = read_month(token);
            if (month >= 0) return;
        }
        if (year < 0) year = take_number(token, 2, 4);
    }
};

// Max-Age: an optional minus and digits; nothing when it is none.
std::optional<std::int64_t> read_max_age(std::string_view text) noexcept {
    const bool minus = text.starts_with('-');
    const std::string_view digits = text.substr(minus ? 1 : 0);
    if (digits.empty() || !scan::all_in(scan::byte_class::digit, digits)) return std::nullopt;
    std::int64_t seconds = 0;
    if (minus) return seconds;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    return read.ec == std::errc() ? std::min(seconds, cookie_age_seconds_max) : cookie_age_seconds_max;
}

}  // namespace

std::optional<std::int64_t> parse_cookie_date(std::string_view text) noexcept {
    date_parts parts;
    while (!text.empty()) {
        const auto end = std::find_if(text.begin(), text.end(), is_delimiter);
        const auto bytes = static_cast<std::size_t>(end - text.begin());
        if (bytes > 0) parts.take(text.substr(0, bytes));
        text.remove_prefix(std::min(bytes + 1, text.size()));
    }
    if (parts.time[0] < 0 || parts.day < 0 || parts.month < 0 || parts.year < 0) return std::nullopt;
    if (parts.year >= 70 && parts.year <= 99) parts.year += 1900;
    if (parts.year <= 69) parts.year += 2000;
    if (parts.year < 1601 || parts.time[0] > 23 || parts.time[1] > 59 || parts.time[2] > 59) return std::nullopt;

    // Written as the date it means, it is judged by the calendar there.
    char fixed[date_bytes];
    std::string_view("Sun, 00 Jan 0000 00:00:00 GMT").copy(fixed, date_bytes);
    const auto write_two = [&fixed](std::size_t at, int number) {
        fixed[at] = static_cast<char>('0' + number / 10);
        fixed[at + 1] = static_cast<char>('0' + number % 10);
    };
    write_two(5, parts.day);
    std::string_view("JanFebMarAprMayJunJulAugSepOctNovDec").substr(static_cast<std::size_t>(parts.month) * 3, 3).copy(fixed + 8, 3);
    write_two(12, parts.year / 100);
    write_two(14, parts.year % 100);
    for (std::size_t i = 0; i < 3; ++i) write_two(17 + 3 * i, parts.time[i]);
    return parse_date({fixed, date_bytes}, 0);
}

std::optional<received_cookie> received_cookie::parse(std::string_view value, std::int64_t now_seconds) noexcept {
    for (const char c : value) {
        if (is_in(c, class_control)) return std::nullopt;
    }
    const auto take_piece = [&value] {
        const std::size_t end = std::min(value.find(';'), value.size());
        const std::string_view piece = value.substr(0, end);
        value.remove_prefix(std::min(end + 1, value.size()));
        return piece;
    };
    received_cookie made;
    const std::string_view pair = take_piece();
    const std::size_t equals = pair.find('=');
    if (equals == npos) return std::nullopt;
    made.name_ = trim(pair.substr(0, equals));
    made.value_ = trim(pair.substr(equals + 1));
    if (made.name_.empty() || made.name_.size() + made.value_.size() > cookie_bytes_max) return std::nullopt;
    while (!value.empty()) {
        const std::string_view piece = take_piece();
        const std::size_t split = std::min(piece.find('='), piece.size());
        const std::string_view attribute = trim(piece.substr(std::min(split + 1, piece.size())));
        if (attribute.size() <= cookie_attribute_bytes_max) made.take_attribute(trim(piece.substr(0, split)), attribute, now_seconds);
    }
    if (!made.keeps_its_prefix()) return std::nullopt;
    return made;
}

void received_cookie::take_attribute(std::string_view name, std::string_view value, std::int64_t now_seconds) noexcept {
    const auto is = [name](std::string_view wanted) { return scan::equal_ignoring_case(name, wanted); };
    if (is("Expires")) {
        const auto date = parse_cookie_date(value);
        if (date && !by_max_age_) expires_seconds_ = std::min(*date, now_seconds + cookie_age_seconds_max);
    } else if (is("Max-Age")) {
        const auto age = read_max_age(value);
        if (!age) return;
        by_max_age_ = true;
        expires_seconds_ = now_seconds + *age;
    } else if (is("Domain")) {
        if (value.empty()) return;
        if (value.starts_with('.')) value.remove_prefix(1);
        domain_.reset();
        if (!value.empty()) domain_ = value;
    } else if (is("Path")) {
        path_.reset();
        if (value.starts_with('/')) path_ = value;
    } else if (is("Secure")) {
        secure_ = true;
    } else if (is("HttpOnly")) {
        http_only_ = true;
    } else if (is("Partitioned")) {
        partitioned_ = true;
    } else if (is("SameSite")) {
        same_site_ = http::same_site::unset;
        if (scan::equal_ignoring_case(value, "strict")) same_site_ = http::same_site::strict;
        if (scan::equal_ignoring_case(value, "lax")) same_site_ = http::same_site::lax;
        if (scan::equal_ignoring_case(value, "none")) same_site_ = http::same_site::none;
    }
}

bool received_cookie::keeps_its_prefix() const noexcept {
    const auto has_prefix = [this](std::string_view prefix) { return scan::equal_ignoring_case(name_.substr(0, prefix.size()), prefix); };
    if (has_prefix("__Secure-")) return secure_;
    if (has_prefix("__Host-")) return secure_ && path_ == "/" && !domain_;
    return true;
}

}  // namespace martlet::inline v0::http
