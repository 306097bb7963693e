// Any text is a URI or none. The parts of one that is, written again, are its text; its normal form is its own normal form; what a reference
// resolves to is a URI again; what was encoded decodes to itself.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/uri/http_uri.hpp>
#include <martlet/wire/uri/percent.hpp>
#include <martlet/wire/uri/reference.hpp>

namespace {

using namespace martlet::uri;

void require(bool holds) {
    if (!holds) std::abort();
}

void check_percent(std::string_view text) {
    std::string space;
    for (const plus_sign plus : {plus_sign::literal, plus_sign::space}) {
        const auto decoded = decode(text, plus);
        const auto again = decode(text, space, plus);
        require(decoded.has_value() == again.has_value() && decoded.has_value() == is_well_escaped(text));
        if (decoded) require(*decoded == *again && decodes_to(text, *decoded, plus) && decoded->size() <= text.size());
    }
    for (unsigned where = 0; where < 7; ++where) {
        const std::string encoded = encode(text, static_cast<component>(where));
        const plus_sign plus = static_cast<component>(where) == component::form ? plus_sign::space : plus_sign::literal;
        require(decode(encoded, plus).value() == text);
    }
}

void check_parts(std::string_view text) {
    const auto made = reference::parse(text);
    if (!made) return;
    std::string again;
    if (made->scheme()) again.append(*made->scheme()).append(":");
    if (made->authority()) again.append("//");
    if (made->userinfo()) again.append(*made->userinfo()).append("@");
    if (made->authority()) again.append(*made->authority());
    again.append(made->path());
    if (made->query()) again.append("?").append(*made->query());
    if (made->fragment()) again.append("#").append(*made->fragment());
    require(again == text);
}

void check_http(std::string_view text) {
    const auto uri = http_uri::parse(text, userinfo::accepted);
    if (!uri) return;
    require(reference::parse(text).has_value());
    const std::string normal = uri->normal();
    const auto again = http_uri::parse(normal, userinfo::accepted);
    require(again && again->normal() == normal && again->is_same_origin(*uri));
    require(uri->target().starts_with('/'));
    require(again->path().starts_with('/') && again->path().find("/../") == std::string_view::npos && !again->path().ends_with("/.."));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_percent(text);
    check_parts(text);
    check_http(text);

    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return 0;
    const auto base = reference::parse(text.substr(0, line));
    const auto relative = reference::parse(text.substr(line + 1));
    if (!base || !relative || !base->is_absolute()) return 0;
    const std::string whole = resolve(*base, *relative).value();
    const auto resolved = reference::parse(whole);
    require(resolved && resolved->is_absolute() && resolved->fragment() == relative->fragment());
    check_http(whole);
    return 0;
}
