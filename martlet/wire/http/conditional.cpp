#include <martlet/wire/http/conditional.hpp>

#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/date.hpp>

namespace martlet::inline v0::http {

namespace {

using comparison = bool (*)(const etag&, const etag&) noexcept;

// Sections 13.1.1 and 13.1.2: "*" is whatever there is.
bool names_current(std::string_view value, const representation& current, comparison match) noexcept {
    if (trim(value) == "*") return current.exists();
    if (!current.exists() || !current.etag()) return false;
    etag_reader tags(value);
    while (const auto tag = tags.next()) {
        if (match(*tag, *current.etag())) return true;
    }
    return false;
}

// Nothing when one of the two dates is missing or none: then the field is not there.
std::optional<bool> is_modified_since(std::optional<std::string_view> value, const representation& current, std::int64_t now) noexcept {
    if (!value || !current.exists() || !current.last_modified()) return std::nullopt;
    const auto date = parse_date(trim(*value), now);
    if (!date) return std::nullopt;
    return *current.last_modified() > *date;
}

// Section 13.1.5: a strong tag, or exactly the date, when that is a strong validator (section 8.8.2.2).
bool range_holds(std::string_view value, const representation& current, std::int64_t now) noexcept {
    value = trim(value);
    if (const auto tag = etag::parse(value)) return current.etag() && match_strongly(*tag, *current.etag());
    const auto date = parse_date(value, now);
    return date && current.last_modified() && *date == *current.last_modified() && *date < now;
}

}  // namespace

condition evaluate(method by, const condition_fields& fields, const representation& current, std::int64_t now_seconds) noexcept {
    if (by == method::connect || by == method::options || by == method::trace) return condition::proceed;
    const bool reads = by == method::get || by == method::head;

    // Steps 1 and 2.
    if (fields.if_match()) {
        if (!names_current(*fields.if_match(), current, &match_strongly)) return condition::failed;
    } else if (is_modified_since(fields.if_unmodified_since(), current, now_seconds).value_or(false)) {
        return condition::failed;
    }
    // Steps 3 and 4.
    if (fields.if_none_match()) {
        if (names_current(*fields.if_none_match(), current, &match_weakly)) return reads ? condition::not_modified : condition::failed;
    } else if (reads && !is_modified_since(fields.if_modified_since(), current, now_seconds).value_or(true)) {
        return condition::not_modified;
    }
    // Step 5.
    if (by == method::get && fields.if_range() && !range_holds(*fields.if_range(), current, now_seconds)) return condition::ignore_range;
    return condition::proceed;
}

}  // namespace martlet::inline v0::http
