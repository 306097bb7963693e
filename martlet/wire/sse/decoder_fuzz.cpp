// However a stream is split, the same events come out and the same end; an event written is the event read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <martlet/wire/sse/decoder.hpp>
#include <martlet/wire/sse/encoder.hpp>

namespace {

using namespace martlet::sse;

void require(bool holds) {
    if (!holds) std::abort();
}

std::string told(std::string_view stream, std::size_t step, const decoder_limits& limits) {
    decoder in(limits);
    std::string out;
    while (!stream.empty()) {
        std::string_view piece = stream.substr(0, step);
        stream.remove_prefix(piece.size());
        for (;;) {
            const auto fed = in.feed(piece);
            if (!fed) return out + "!";
            if (!*fed) break;
            require(in.data().size() <= limits.event_bytes_max());
            out.append(in.name()).append("\xff").append(in.data()).append("\xff").append(in.last_id()).append("\xff");
        }
        require(piece.empty());
    }
    return out + std::to_string(in.retry().value_or(std::chrono::milliseconds(-1)).count()) + in.last_id();
}

// What a reader gets of `text`: LF for each line end.
std::string with_plain_ends(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        out += text[i] == '\r' ? '\n' : text[i];
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto limits = decoder_limits().event_bytes_max(data[0] < 128 ? data[0] : 1u << 20);
    const std::size_t step = 1 + data[1] % 32;
    const std::string_view stream(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::string whole = told(stream, size, limits);
    require(told(stream, 1, limits) == whole && told(stream, step, limits) == whole);

    const std::string_view id = stream.substr(0, std::min(step, stream.size()));
    const std::string_view text = stream.substr(id.size());
    std::string written;
    append_comment(written, text);
    const bool good = append(written, event(text).id(id)).has_value();
    require(good == (id.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos));
    if (!good) return 0;
    decoder in(decoder_limits().event_bytes_max(size + 8));
    std::string_view bytes = written;
    require(in.feed(bytes).value() && bytes.empty() && in.data() == with_plain_ends(text) && in.last_id() == id);
    return 0;
}
