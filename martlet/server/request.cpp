#include <martlet/server/request.hpp>

#include <martlet/server/route.hpp>

namespace martlet::inline v0::server {

result<std::string_view> request::param_text(std::string_view name, std::string& scratch) const {
    const path_params& found = of_.params();
    const route* const of = found.of();
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (of->param_names()[i] != name) continue;
        const std::string_view sent = found.at(i, of_.path());
        if (of->has_rest() && i + 1 == found.size()) return sent;
        const auto text = detail::decode_path(sent, scratch);
        if (!text) return failure(input_error(input_source::path, name, "must have two hexadecimal digits after each '%'"));
        return *text;
    }
    return failure(make_error(exchange_errc::no_such_param));
}

std::string_view request::rest() const noexcept {
    const path_params& found = of_.params();
    if (found.of() == nullptr || !found.of()->has_rest()) return {};
    return found.at(found.size() - 1, of_.path());
}

}  // namespace martlet::inline v0::server
