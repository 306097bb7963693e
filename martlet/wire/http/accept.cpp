#include <martlet/wire/http/accept.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/field_list.hpp>
#include <martlet/wire/http/media_type.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr int weight_max = 1000;

// Each parameter of the range, up to its weight, is one of the offered type; -1 when not, else how many there are.
int matched_parameters(const media_type& range, const media_type& offered) noexcept {
    int count = 0;
    parameter_reader wanted = range.parameters();
    while (const auto one = wanted.next()) {
        if (scan::equal_ignoring_case(one->name(), "q")) break;
        const auto own = offered.parameter(one->name());
        std::string_view text = one->raw();
        if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
        if (!own || !own->is(text)) return -1;
        ++count;
    }
    return count;
}

// How special the range is that takes the offered type: 0 when it does not.
int match(const media_type& range, const media_type& offered) noexcept {
    if (range.essence() == "*/*") return 1;
    if (!scan::equal_ignoring_case(range.type(), offered.type())) return 0;
    if (range.subtype() == "*") return 2;
    if (!scan::equal_ignoring_case(range.subtype(), offered.subtype())) return 0;
    const int parameters = matched_parameters(range, offered);
    return parameters < 0 ? 0 : 3 + parameters;
}

// The weight of an element with parameters; -1 when it is none.
int weight_in(parameter_reader parameters) noexcept {
    while (const auto one = parameters.next()) {
        if (scan::equal_ignoring_case(one->name(), "q")) return weight_of(one->raw());
    }
    return parameters.is_good() ? weight_max : -1;
}

// The weight that `accept` gives the offered type: that of the most special range that takes it.
int type_weight(std::string_view accept, const media_type& offered) noexcept {
    int best = 0;
    int weight = 0;
    list_reader elements(accept);
    while (const auto element = elements.next()) {
        const auto range = media_type::parse(*element);
        if (!range) continue;
        const int own = weight_in(range->parameters());
        const int special = match(*range, offered);
        if (own < 0 || special <= best) continue;
        best = special;
        weight = own;
    }
    return weight;
}

std::string_view plain_coding(std::string_view coding) noexcept {
    if (scan::equal_ignoring_case(coding, "x-gzip") || scan::equal_ignoring_case(coding, "x-compress")) coding.remove_prefix(2);
    return coding;
}

// In thousandths, times two: identity that nobody named comes behind everything that was, but before nothing at all.
int coding_weight(std::string_view accept_encoding, std::string_view offered) noexcept {
    std::optional<int> named;
    std::optional<int> any;
    list_reader elements(accept_encoding);
    while (const auto element = elements.next()) {
        const std::string_view coding = element->substr(0, element->find_first_of("; \t"));
        const int weight = weight_in(parameter_reader(element->substr(coding.size())));
        if (weight < 0 || !scan::is_token(coding)) continue;
        if (coding == "*") any = weight;
        if (scan::equal_ignoring_case(plain_coding(coding), plain_coding(offered))) named = weight;
    }
    if (named) return *named * 2;
    if (scan::equal_ignoring_case(offered, "identity")) return any && *any == 0 ? 0 : 1;
    return any.value_or(0) * 2;
}

template <class Weight>
std::optional<std::size_t> best_by(std::span<const std::string_view> offered, Weight weight) noexcept {
    std::optional<std::size_t> best;
    int most = 0;
    for (std::size_t i = 0; i < offered.size(); ++i) {
        const int own = weight(offered[i]);
        if (own <= most) continue;
        most = own;
        best = i;
    }
    return best;
}

}  // namespace

int weight_of(std::string_view text) noexcept {
    // "0" [ "." 0*3DIGIT ] or "1" [ "." 0*3"0" ]
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return -1;
    if (text.size() > 1 && text[1] != '.') return -1;
    int weight = text[0] == '1' ? weight_max : 0;
    int unit = weight_max / 10;
    for (std::size_t i = 2; i < text.size(); ++i, unit /= 10) {
        if (!scan::is_in(scan::byte_class::digit, text[i])) return -1;
        weight += (text[i] - '0') * unit;
    }
    return weight <= weight_max ? weight : -1;
}

std::optional<std::size_t> best_type_of(std::optional<std::string_view> accept, std::span<const std::string_view> offered) noexcept {
    const std::string_view value = accept ? trim(*accept) : std::string_view();
    return best_by(offered, [value](std::string_view one) {
        const auto type = media_type::parse(one);
        if (!type) return 0;
        return value.empty() ? weight_max : type_weight(value, *type);
    });
}

std::optional<std::size_t> best_coding_of(std::optional<std::string_view> accept_encoding,
                                          std::span<const std::string_view> offered) noexcept {
    return best_by(offered,
                   [value = accept_encoding.value_or(std::string_view())](std::string_view one) { return coding_weight(value, one); });
}

}  // namespace martlet::inline v0::http
