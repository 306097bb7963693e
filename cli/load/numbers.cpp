#include "numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace load {

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || wrong != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
    return value;
}

std::optional<double> positive_number(std::string_view text) {
    double value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (text.empty() || wrong != std::errc() || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::optional<martlet::duration> time_of(std::string_view text) {
    constexpr std::pair<std::string_view, double> units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    double unit = 1e9;
    for (const auto& [name, ns] : units) {
        if (!text.ends_with(name)) continue;
        unit = ns;
        text.remove_suffix(name.size());
        break;
    }
    if (text.find_first_not_of('0') == std::string_view::npos && !text.empty()) return martlet::duration::zero();
    const auto number = positive_number(text);
    if (!number || *number * unit > static_cast<double>(forever.count())) return std::nullopt;
    return martlet::duration(static_cast<std::int64_t>(*number * unit));
}

std::optional<std::bitset<expectation::statuses>> statuses_of(std::string_view text) {
    std::bitset<expectation::statuses> all;
    for (;;) {
        const auto comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        if (one.size() != 3 || one[0] < '1' || one[0] > '9') return std::nullopt;
        if (one.substr(1) == "xx") {
            for (std::size_t i = 0; i < 100; ++i) all.set(static_cast<std::size_t>(one[0] - '0') * 100 + i);
        } else {
            const auto number = whole_number(one, expectation::statuses - 1);
            if (!number) return std::nullopt;
            all.set(*number);
        }
        if (comma == std::string_view::npos) return all;
        text.remove_prefix(comma + 1);
    }
}

std::string fixed(double number, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

std::string time_text(double ns) {
    constexpr std::pair<double, const char*> units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
    for (const auto& [unit, name] : units) {
        // What would be rounded up to 1000 of a unit is 1 of the next.
        if (ns < unit * 0.9995) continue;
        const double value = ns / unit;
        return fixed(value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0)) + name;
    }
    return fixed(ns, 0) + " ns";
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

}  // namespace load
