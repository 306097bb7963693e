// Any bytes that answer a request get one verdict, one content and the same fields, however they are split; a refusal stands when more
// bytes follow; a response that the encoder wrote is read as it was meant.
#include <cstdlib>

#include <martlet/wire/http1/encoder.hpp>
#include <martlet/wire/http1/response_test_internal.hpp>

namespace {

using namespace martlet;
using namespace martlet::http1;

void require(bool holds) {
    if (!holds) std::abort();
}

head_limits limits_from(unsigned seed) {
    head_limits limits;
    if ((seed & 1) != 0) limits.request_line_bytes_max(4 + seed % 61).head_bytes_max(32 + seed % 211);
    if ((seed & 2) != 0) limits.field_bytes_max(8 + seed % 53).fields_max(static_cast<std::uint16_t>(seed % 7));
    if ((seed & 4) != 0) limits.interim_heads_max(static_cast<std::uint16_t>(seed % 3));
    return limits;
}

// A head of the encoder, with a field whose value is `text` when it can be one, and the content behind it.
void check_written(std::string_view text, unsigned status, unsigned framing) {
    const auto value = http::field_value::make(text.substr(0, 200));
    if (!value) return;
    char line[256];
    const std::string_view extra(line, encode_field(line, http::field_id::etag, *value));
    const auto how = framing % 3 == 0 ? body_framing::length(2) : framing % 3 == 1 ? body_framing::chunked() : body_framing::until_close();
    std::string wire(encoded_bytes_max({}, extra), '\0');
    const auto connection = how.is_until_close() ? persistence::close : persistence::keep;
    wire.resize(static_cast<std::size_t>(encode_head(wire.data(), static_cast<int>(status), {}, how, extra, connection, response_prefix()) -
                                         wire.data()));
    wire += how.is_chunked() ? "2\r\nok\r\n0\r\n\r\n" : "ok";
    const std::string told = testing::response_verdict(wire, 1, 1, response_context(http::method::get), true, head_limits(), 2, true);
    const std::string expected = "ok " + std::to_string(status) + " [ok] " + (how.is_until_close() ? "noreuse" : "reuse");
    require(told.starts_with(expected + "\n" + std::to_string(wire.size())));
    require(told.find(" ETag=" + std::string(value->text())) != std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const head_limits limits = limits_from(data[0]);
    constexpr http::method methods[] = {http::method::get, http::method::head, http::method::connect, http::method::post};
    const auto context = response_context(methods[data[1] % 4]).asks_upgrade((data[1] & 4) != 0);
    const bool ends = (data[1] & 8) != 0;
    const std::size_t first = 1 + data[2];
    const std::size_t step = 1 + data[3] % 64;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
    const auto verdict = [&](std::string_view given, std::size_t from, std::size_t by, bool with_end) {
        return testing::response_verdict(given, from, by, context, with_end, limits, 64, true);
    };

    const std::string whole = verdict(bytes, bytes.size(), 1, ends);
    require(verdict(bytes, first, step, ends) == whole);
    require(verdict(bytes, 1, 1, ends) == whole);
    const std::string unfinished = verdict(bytes, bytes.size(), 1, false);
    if (!unfinished.starts_with("more"))
        require(verdict(std::string(bytes) + "\r\nX: y\r\n\r\n", bytes.size() + 10, 1, false) == unfinished);
    check_written(bytes, 300u + data[2] % 4, data[3]);
    return 0;
}
