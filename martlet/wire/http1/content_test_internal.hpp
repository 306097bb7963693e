// What the tests and fuzzers of contents share: a content fed in any pieces, told as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <martlet/wire/http1/content.hpp>

namespace martlet::inline v0::http1::testing {

/// The verdict on a decoder that is fed `first` bytes, then `step` at a time: "more", "STATUS code" or "ok CONSUMED", then the content and
/// the trailers. Each piece is a block of its own, so that a sanitizer sees a byte read behind it.
template <class Decoder>
std::string content_verdict(Decoder& decoder, std::string_view bytes, std::size_t first, std::size_t step) {
    std::string content;
    std::size_t given = 0;
    std::size_t consumed = 0;
    content_step last{0, {}, decoder.state()};
    std::size_t next = first;
    while (given < bytes.size() && last.state == content_state::more) {
        const std::string_view source = bytes.substr(given, next);
        given += source.size();
        next = step;
        const std::unique_ptr<char[]> block(new char[source.size()]);
        source.copy(block.get(), source.size());
        std::string_view piece(block.get(), source.size());
        for (;;) {
            last = decoder.feed(piece);
            if (last.consumed > piece.size()) return "took bytes that had not come";
            content += last.content;
            consumed += last.consumed;
            piece.remove_prefix(last.consumed);
            if (last.state == content_state::failed && !last.content.empty()) return "failed with content";
            if (last.state != content_state::more || piece.empty()) break;
            if (last.consumed == 0) return "stood still";
        }
    }
    if (last.state == content_state::more) return "more [" + content + "]";
    if (last.state == content_state::failed) {
        return std::to_string(decoder.error().http_status()) + " " + std::to_string(static_cast<unsigned>(decoder.code())) + " [" +
               content + "]";
    }
    std::string text = "ok " + std::to_string(consumed) + " [" + content + "]";
    for (const field_view field : decoder.trailers()) text += " " + std::string(field.name) + "=" + std::string(field.value);
    return text;
}

}  // namespace martlet::inline v0::http1::testing
