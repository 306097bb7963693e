// answer_head: an answer's status and fields while they can still be changed.
#pragma once

#include <optional>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/server/field_block.hpp>
#include <martlet/wire/http/content_type.hpp>

namespace martlet::inline v0::server {

/// What `on_head` is given, for that call: nothing is encoded before it returns.
class answer_head {
public:
    answer_head(int status, http::content_type type, field_block& fields) noexcept : status_(status), type_(type), fields_(fields) {}
    answer_head(const answer_head&) = delete;
    answer_head& operator=(const answer_head&) = delete;

    int status() const noexcept { return status_; }
    /// 200 to 599, else a local error. Content is left out where the new status forbids it.
    result<void> status(int to) noexcept;
    http::content_type type() const noexcept { return type_; }

    /// The first value of that name, compared without case; what the server adds itself (Date, Content-Length, ...) is not among them.
    std::optional<std::string_view> field(std::string_view name) const noexcept { return fields_.find(name); }
    /// Adds a line. Refuses what answer::set refuses.
    result<void> add(std::string_view name, std::string_view value) noexcept;
    /// Takes the place of all lines of that name.
    result<void> replace(std::string_view name, std::string_view value) noexcept;
    /// How many lines of that name there were.
    std::size_t remove(std::string_view name) noexcept { return fields_.remove(name); }

    const field_block& fields() const noexcept { return fields_; }

private:
    int status_;
    http::content_type type_;
    field_block& fields_;
};

}  // namespace martlet::inline v0::server
