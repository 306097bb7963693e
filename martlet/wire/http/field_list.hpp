// field_list, parameter_reader: the two shapes that most field values have: elements between commas, and parameters behind semicolons.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace martlet::inline v0::http {

/// Takes the elements of a list (RFC 9110 section 5.6.1) off a value, one after another: without the space around them, empty ones passed
/// over. A comma in a quoted string separates nothing; a quoted string that does not end reaches to the end of the value.
class list_reader {
public:
    explicit list_reader(std::string_view value) noexcept : rest_(value) {}
    /// The next element, never empty; nothing at the end.
    std::optional<std::string_view> next() noexcept;

private:
    std::string_view rest_;
};

/// One `name=value`. Borrows the field's bytes.
class parameter {
public:
    parameter(std::string_view name, std::string_view raw) noexcept : name_(name), raw_(raw) {}

    /// Compare it without case.
    std::string_view name() const noexcept { return name_; }
    /// As received: a token, or a quoted string with its quotes.
    std::string_view raw() const noexcept { return raw_; }
    /// The value: a token as it is, a quoted string without quotes and backslashes.
    std::string value() const;
    /// The same without a copy where there is no backslash; borrows the field or `space`.
    std::string_view value(std::string& space) const;
    /// The value is `text` but for the case of letters, as for charsets.
    bool is(std::string_view text) const noexcept;

private:
    std::string_view name_;
    std::string_view raw_;
};

/// Takes parameters (RFC 9110 section 5.6.6) off what follows a value: `*( OWS ";" OWS [ name "=" value ] )`, strictly.
class parameter_reader {
public:
    explicit parameter_reader(std::string_view text) noexcept : rest_(text) {}
    /// The next parameter; nothing at the end or where something else stands.
    std::optional<parameter> next() noexcept;
    /// Nothing that is no parameter was met so far.
    bool is_good() const noexcept { return good_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

/// The size of the quoted string that `text` begins with, quotes included; 0 when it begins with none (RFC 9110 section 5.6.4).
std::size_t quoted_string_bytes(std::string_view text) noexcept;

/// Appends `text` as a token where it is one, otherwise as a quoted string; false, with nothing appended, when it holds a control byte.
bool append_parameter_value(std::string& out, std::string_view text);

}  // namespace martlet::inline v0::http
