// The pairs of any query are its pieces; a form is those pairs decoded, and what is written of it is read as the same form.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/uri/form.hpp>
#include <martlet/wire/uri/query.hpp>

namespace {

using namespace martlet::uri;

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::size_t pairs = 0;
    std::size_t bytes = 0;
    bool good = true;
    for (const query_pair& pair : query_view(text)) {
        ++pairs;
        bytes += pair.raw_name().size() + pair.raw_value().size() + (pair.has_value() ? 1 : 0);
        const auto name = pair.name();
        good = good && name && pair.value();
        if (name) require(query_view(text).find(*name).has_value());
    }
    for (const char c : text) bytes += c == '&' ? 1 : 0;
    require(bytes == size);

    constexpr std::size_t pairs_max = 50;
    const auto made = form::parse(text, form_limits().pairs_max(pairs_max));
    require(!made || (good && pairs <= pairs_max));
    if (good && pairs <= pairs_max) require(made && made->size() == pairs);
    if (!made) return 0;
    form_writer writer;
    for (std::size_t i = 0; i < made->size(); ++i) writer.add(made->name(i), made->value(i));
    const auto again = form::parse(writer.text());
    require(again && again->size() == made->size());
    for (std::size_t i = 0; i < made->size(); ++i) require(again->name(i) == made->name(i) && again->value(i) == made->value(i));
    return 0;
}
