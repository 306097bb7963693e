// Any Accept and any Content-Type are read; what is chosen was offered and not refused; parameters written again are the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/http/accept.hpp>
#include <martlet/wire/http/media_type.hpp>

namespace {

namespace http = martlet::http;

void require(bool holds) {
    if (!holds) std::abort();
}

void check_media_type(std::string_view text) {
    const auto type = http::media_type::parse(text);
    if (!type) return;
    std::string written(type->essence());
    std::size_t count = 0;
    auto all = type->parameters();
    while (const auto one = all.next()) {
        ++count;
        std::string space;
        require(one->value() == one->value(space) && one->is(one->value()));
        written.append(";").append(one->name()).append("=");
        require(http::append_parameter_value(written, one->value()));
    }
    require(all.is_good());
    const auto again = http::media_type::parse(written);
    require(again && again->is(type->essence()));
    auto same = again->parameters();
    auto first = type->parameters();
    for (; count > 0; --count) {
        const auto a = first.next();
        const auto b = same.next();
        require(a && b && a->name() == b->name() && a->value() == b->value());
    }
    require(!same.next());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_media_type(text);
    std::size_t bytes = 0;
    http::list_reader elements(text);
    while (const auto element = elements.next()) {
        require(!element->empty());
        bytes += element->size();
        check_media_type(*element);
    }
    require(bytes <= size);

    const auto chosen = http::best_of(text, "text/html", "text/html;level=1", "application/json", "image/png");
    require(!chosen || *chosen < 4);
    const std::string_view codings[] = {"br", "gzip", "identity"};
    const auto coding = http::best_coding_of(text, codings);
    require(!coding || *coding < 3);
    return 0;
}
