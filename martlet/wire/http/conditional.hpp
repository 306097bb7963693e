// conditional: whether a request with preconditions is carried out (RFC 9110 section 13). One pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/wire/http/etag.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::http {

/// What becomes of a request.
enum class condition : std::uint8_t {
    proceed,       ///< carry it out; Range holds if there is one
    ignore_range,  ///< carry it out as if there were no Range
    not_modified,  ///< 304
    failed,        ///< 412
};

/// The fields of a request that make it conditional; what is not given is not there. Borrows their values. Several lines of If-Match or
/// If-None-Match are joined with commas before.
class condition_fields {
public:
    condition_fields() noexcept = default;
    condition_fields& if_match(std::optional<std::string_view> value) noexcept {
        if_match_ = value;
        return *this;
    }
    condition_fields& if_none_match(std::optional<std::string_view> value) noexcept {
        if_none_match_ = value;
        return *this;
    }
    condition_fields& if_modified_since(std::optional<std::string_view> value) noexcept {
        if_modified_since_ = value;
        return *this;
    }
    condition_fields& if_unmodified_since(std::optional<std::string_view> value) noexcept {
        if_unmodified_since_ = value;
        return *this;
    }
    condition_fields& if_range(std::optional<std::string_view> value) noexcept {
        if_range_ = value;
        return *this;
    }

    /// There is none of them: `evaluate` says `proceed`.
    bool is_empty() const noexcept { return !if_match_ && !if_none_match_ && !if_modified_since_ && !if_unmodified_since_ && !if_range_; }

    std::optional<std::string_view> if_match() const noexcept { return if_match_; }
    std::optional<std::string_view> if_none_match() const noexcept { return if_none_match_; }
    std::optional<std::string_view> if_modified_since() const noexcept { return if_modified_since_; }
    std::optional<std::string_view> if_unmodified_since() const noexcept { return if_unmodified_since_; }
    std::optional<std::string_view> if_range() const noexcept { return if_range_; }

private:
    std::optional<std::string_view> if_match_;
    std::optional<std::string_view> if_none_match_;
    std::optional<std::string_view> if_modified_since_;
    std::optional<std::string_view> if_unmodified_since_;
    std::optional<std::string_view> if_range_;
};

/// What there is now under the request's target.
class representation {
public:
    /// There is something.
    representation() noexcept = default;
    /// There is nothing yet, as for a PUT that creates.
    static representation none() noexcept {
        representation made;
        made.exists_ = false;
        return made;
    }
    representation& etag(std::optional<http::etag> tag) noexcept {
        etag_ = tag;
        return *this;
    }
    /// Seconds since 1970.
    representation& last_modified(std::optional<std::int64_t> unix_seconds) noexcept {
        last_modified_ = unix_seconds;
        return *this;
    }

    bool exists() const noexcept { return exists_; }
    const std::optional<http::etag>& etag() const noexcept { return etag_; }
    std::optional<std::int64_t> last_modified() const noexcept { return last_modified_; }

private:
    bool exists_ = true;
    std::optional<http::etag> etag_;
    std::optional<std::int64_t> last_modified_;
};

/// Judges the preconditions in the order of RFC 9110 section 13.2.2. To be asked when the request would otherwise be answered with 2xx, and
/// before anything is done. Dates that are none are not there; a tag that is none matches nothing. CONNECT, OPTIONS and TRACE always proceed.
/// `now_seconds` counts from 1970: a date in If-Range holds only when it lies before it, as two changes may share a second.
condition evaluate(method by, const condition_fields& fields, const representation& current, std::int64_t now_seconds) noexcept;

}  // namespace martlet::inline v0::http
