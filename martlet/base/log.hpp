// Log records and where they go. The registry holds one sink; base has none itself, since it makes no system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace martlet::inline v0::log {

enum class level : std::uint8_t { debug, info, warn, error, off };

/// `debug`, `info`, `warn`, `error` or `off`.
std::string_view name_of(level of) noexcept;

/// A named value of a record. Borrows its name and text: good until the call that logs it returns.
class field {
public:
    enum class kind : std::uint8_t { text, integer, natural, real, boolean };

    field(std::string_view name, std::string_view value) noexcept : name_(name), kind_(kind::text), text_(value) {}
    field(std::string_view name, const char* value) noexcept : field(name, std::string_view(value)) {}
    field(std::string_view name, bool value) noexcept : name_(name), kind_(kind::boolean), natural_(value) {}
    template <class T>
        requires std::is_integral_v<T>
    field(std::string_view name, T value) noexcept : name_(name), kind_(std::is_signed_v<T> ? kind::integer : kind::natural) {
        if constexpr (std::is_signed_v<T>) {
            integer_ = value;
        } else {
            natural_ = value;
        }
    }
    field(std::string_view name, double value) noexcept : name_(name), kind_(kind::real), real_(value) {}

    std::string_view name() const noexcept { return name_; }
    kind value_kind() const noexcept { return kind_; }
    /// One of these, by `value_kind()`.
    std::string_view text() const noexcept { return text_; }
    std::int64_t integer() const noexcept { return integer_; }
    std::uint64_t natural() const noexcept { return natural_; }
    double real() const noexcept { return real_; }
    bool boolean() const noexcept { return natural_ != 0; }

private:
    std::string_view name_;
    kind kind_;
    union {
        std::string_view text_;
        std::int64_t integer_;
        std::uint64_t natural_;
        double real_;
    };
};

/// One thing that happened. Borrows all it refers to.
class record {
public:
    record(level of, std::string_view message, std::span<const field> fields) noexcept : message_(message), fields_(fields), level_(of) {}

    level severity() const noexcept { return level_; }
    std::string_view message() const noexcept { return message_; }
    std::span<const field> fields() const noexcept { return fields_; }

private:
    std::string_view message_;
    std::span<const field> fields_;
    level level_;
};

/// Takes records, from any thread at any time.
class sink {
public:
    virtual void write(const record& what) noexcept = 0;

protected:
    ~sink() = default;
};

/// Records go to `to` from now on; null drops them. Returns the sink before. The one replaced may still be in a call
/// on another thread when this returns, so a sink should live as long as the program.
sink* set_sink(sink* to) noexcept;
/// Records below `lowest` are dropped. `info` until set.
void set_level(level lowest) noexcept;
/// Whether a record of this level would reach a sink: ask before costly work.
bool enabled(level of) noexcept;

void write(level of, std::string_view message, std::span<const field> fields) noexcept;

namespace detail {

template <class... Fields>
void write_fields(level of, std::string_view message, const Fields&... fields) noexcept {
    if (!enabled(of)) return;
    if constexpr (sizeof...(Fields) == 0) {
        log::write(of, message, {});
    } else {
        const field all[] = {fields...};
        log::write(of, message, all);
    }
}

}  // namespace detail

/// Logs `message` with fields: `log::warn("upstream failed", log::field("host", host))`. Never throws, allocates nothing.
template <class... Fields>
    requires(std::is_same_v<Fields, field> && ...)
void debug(std::string_view message, const Fields&... fields) noexcept {
    detail::write_fields(level::debug, message, fields...);
}
template <class... Fields>
    requires(std::is_same_v<Fields, field> && ...)
void info(std::string_view message, const Fields&... fields) noexcept {
    detail::write_fields(level::info, message, fields...);
}
template <class... Fields>
    requires(std::is_same_v<Fields, field> && ...)
void warn(std::string_view message, const Fields&... fields) noexcept {
    detail::write_fields(level::warn, message, fields...);
}
template <class... Fields>
    requires(std::is_same_v<Fields, field> && ...)
void error(std::string_view message, const Fields&... fields) noexcept {
    detail::write_fields(level::error, message, fields...);
}

/// Writes `what` as one line without its end, `level=warn msg="..." name=value`, into `out`, and returns its length. A line too long is cut
/// and ends in `...`. Control bytes and quotes are escaped, so that no data can forge a line.
std::size_t format_line(const record& what, std::span<char> out) noexcept;

}  // namespace martlet::inline v0::log
