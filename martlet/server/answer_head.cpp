#include <martlet/server/answer_head.hpp>

#include <martlet/server/exchange.hpp>

namespace martlet::inline v0::server {

result<void> answer_head::status(int to) noexcept {
    if (to < 200 || to > 599) return failure(make_error(exchange_errc::invalid_status));
    status_ = to;
    return {};
}

result<void> answer_head::add(std::string_view name, std::string_view value) noexcept {
    const auto checked = checked_field(name, value);
    if (!checked) return failure(checked.error());
    if (!fields_.add(name, *checked)) return failure(make_error(exchange_errc::no_memory));
    return {};
}

result<void> answer_head::replace(std::string_view name, std::string_view value) noexcept {
    const auto checked = checked_field(name, value);
    if (!checked) return failure(checked.error());
    if (!fields_.replace(name, *checked)) return failure(make_error(exchange_errc::no_memory));
    return {};
}

}  // namespace martlet::inline v0::server
