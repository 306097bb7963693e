// Any values of the precondition fields are judged; a tag is read as it is written; judging twice says the same, and the rules that hold for
// every value do.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/http/conditional.hpp>

namespace {

namespace http = martlet::http;

void require(bool holds) {
    if (!holds) std::abort();
}

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

void check_tags(std::string_view value) {
    http::etag_reader tags(value);
    while (const auto tag = tags.next()) {
        const std::string text = tag->text();
        const auto again = http::etag::parse(text);
        require(again && again->is_weak() == tag->is_weak() && match_weakly(*again, *tag));
        require(match_strongly(*again, *tag) == !tag->is_weak());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const unsigned given = data[0];
    const auto by = static_cast<http::method>(data[1] % (static_cast<unsigned>(http::method::other) + 1));
    std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto value = [&](unsigned bit) -> std::optional<std::string_view> {
        const std::string_view line = take_line(text);
        if ((given >> bit & 1) == 0) return std::nullopt;
        return line;
    };
    auto current = (given & 128) != 0 ? http::representation::none() : http::representation();
    if ((given & 64) != 0) current.last_modified(783459811);
    current.etag(http::etag::parse(take_line(text)));
    http::condition_fields fields;
    fields.if_match(value(0)).if_none_match(value(1)).if_modified_since(value(2)).if_unmodified_since(value(3)).if_range(value(4));

    const http::condition said = evaluate(by, fields, current, 1000000000);
    require(said == evaluate(by, fields, current, 1000000000));
    const bool reads = by == http::method::get || by == http::method::head;
    if (said == http::condition::not_modified) require(reads && (fields.if_none_match() || fields.if_modified_since()));
    if (said == http::condition::ignore_range) require(by == http::method::get && fields.if_range());
    if (said == http::condition::failed) require(fields.if_match() || fields.if_none_match() || fields.if_unmodified_since());
    if (fields.is_empty()) require(said == http::condition::proceed);
    if (said == http::condition::proceed && fields.if_match() && !current.exists()) {
        require(by == http::method::connect || by == http::method::options || by == http::method::trace);
    }
    if (fields.if_match()) check_tags(*fields.if_match());
    if (fields.if_none_match()) check_tags(*fields.if_none_match());
    return 0;
}
