// form_data: the decoded content of a form, read as values.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <martlet/server/input.hpp>
#include <martlet/wire/uri/form.hpp>

namespace martlet::inline v0::server {

/// Owns its bytes. Names may repeat, and the order is kept.
class form_data {
public:
    explicit form_data(uri::form of) noexcept : of_(std::move(of)) {}

    /// The first value of that name as a T. An error with status 400 names the field, and says that it is missing or what it must be. As
    /// std::optional<T>, a missing one is no error.
    template <class T = std::string>
    result<T> value(std::string_view name) const {
        return detail::value_or_missing<T>(input_source::form, name, of_.find(name));
    }
    /// `otherwise` when it is missing; one that is no T is still an error.
    template <class T>
    result<T> value(std::string_view name, T otherwise) const {
        return detail::value_or<T>(value<std::optional<T>>(name), std::move(otherwise));
    }

    std::optional<std::string_view> find(std::string_view name) const noexcept { return of_.find(name); }
    std::size_t size() const noexcept { return of_.size(); }
    /// `index` is below size().
    std::string_view name_at(std::size_t index) const noexcept { return of_.name(index); }
    std::string_view value_at(std::size_t index) const noexcept { return of_.value(index); }

private:
    uri::form of_;
};

}  // namespace martlet::inline v0::server
