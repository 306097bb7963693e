// Any bytes get one verdict and one content, however they are split; a refusal stands when more bytes follow; content that is written in
// chunks comes back from them.
#include <cstdlib>

#include <martlet/wire/http1/content_test_internal.hpp>
#include <martlet/wire/http1/encoder.hpp>

namespace {

using namespace martlet::http1;

void require(bool holds) {
    if (!holds) std::abort();
}

content_limits limits_from(unsigned seed) {
    content_limits limits;
    if ((seed & 1) != 0) limits.chunk_extension_bytes_max(static_cast<std::uint16_t>(seed % 19));
    if ((seed & 2) != 0) limits.chunk_extensions_bytes_max(seed % 43);
    if ((seed & 4) != 0) limits.chunk_overhead_bytes_max(seed % 61);
    if ((seed & 8) != 0) limits.trailer_bytes_max(static_cast<std::uint16_t>(seed % 71));
    if ((seed & 16) != 0) limits.trailers_max(static_cast<std::uint8_t>(seed % 5));
    return limits;
}

std::string verdict(std::string_view bytes, std::size_t first, std::size_t step, const content_limits& limits, std::uint64_t most) {
    chunked_decoder decoder(limits, most);
    return testing::content_verdict(decoder, bytes, first, step);
}

// `content` in chunks of `step` bytes, with its first bytes as the value of a trailer when they can be one.
void check_written(std::string_view content, std::size_t step) {
    std::string wire;
    for (std::size_t at = 0; at < content.size(); at += step) {
        const std::string_view piece = content.substr(at, step);
        char head[chunk_head_bytes_max];
        wire.append(head, encode_chunk_head(head, piece.size()));
        wire += piece;
        wire += chunk_end;
    }
    std::string trailer;
    std::string expected = " [" + std::string(content) + "]";
    if (const auto value = martlet::http::field_value::make(content.substr(0, 20))) {
        const auto name = martlet::http::token::literal("X-Sum");
        trailer.resize(encoded_field_bytes(name, *value));
        require(try_encode_trailer(trailer.data(), name, *value) == trailer.data() + trailer.size());
        expected += " X-Sum=" + std::string(value->text());
    }
    const std::size_t before = wire.size();
    wire.resize(before + last_chunk_bytes(trailer));
    require(encode_last_chunk(wire.data() + before, trailer) == wire.data() + wire.size());
    expected = "ok " + std::to_string(wire.size()) + expected;
    const content_limits limits;
    require(verdict(wire, wire.size(), 1, limits, content.size()) == expected);
    require(verdict(wire, step, step, limits, content.size()) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const content_limits limits = limits_from(data[0]);
    const std::size_t first = 1 + data[1];
    const std::size_t step = 1 + data[2] % 64;
    const std::uint64_t most = data[3] % 2 == 0 ? content_unlimited : data[3];
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

    const std::string whole = verdict(bytes, bytes.size(), 1, limits, most);
    require(verdict(bytes, first, step, limits, most) == whole);
    require(verdict(bytes, 1, 1, limits, most) == whole);
    if (!whole.starts_with("more")) require(verdict(std::string(bytes) + "\r\n0\r\n\r\n", bytes.size() + 7, 1, limits, most) == whole);
    check_written(bytes, step);
    return 0;
}
