// Any bytes get one verdict, whatever the parser and however they are split; a head that is accepted, written again from its parts, is the
// same head; a refusal stands when more bytes follow.
#include <cstdlib>

#include <martlet/wire/http1/parser_test_internal.hpp>

namespace {

using namespace martlet::http1;
using martlet::http1::testing::verdict;

void require(bool holds) {
    if (!holds) std::abort();
}

head_limits limits_from(unsigned seed) {
    head_limits limits;
    if ((seed & 1) != 0) limits.request_line_bytes_max(16 + seed % 61).head_bytes_max(64 + seed % 211);
    if ((seed & 2) != 0) limits.field_bytes_max(8 + seed % 53).fields_max(static_cast<std::uint16_t>(seed % 7));
    if ((seed & 4) != 0) limits.leading_empty_lines_max(static_cast<std::uint16_t>(seed % 3)).encrypted((seed & 8) != 0);
    if ((seed & 16) != 0) limits.method_bytes_max(static_cast<std::uint8_t>(7 + seed % 5));
    return limits;
}

// Writes what an accepted head says in the plainest form.
std::string written(const request_head& head) {
    std::string text =
        std::string(head.method_text()) + " " + std::string(head.target()) + " HTTP/1." + std::to_string(head.version_minor()) + "\r\n";
    for (const field_view field : head) text += std::string(field.name) + ": " + std::string(field.value) + "\r\n";
    return text + "\r\n";
}

// The verdict without the size of the head, which whitespace changes.
std::string without_size(std::string text) {
    const std::size_t from = text.find("] ");
    return text.substr(0, from) + text.substr(std::min(text.find('\n', from), text.size()));
}

void check_written_again(std::string_view bytes, const head_limits& limits) {
    testing::delivery in(bytes, limits);
    if (!in.give(bytes.size(), parser_kind::avx2).is_complete()) return;
    const std::string again = written(in.head());
    testing::delivery second(again, head_limits().encrypted(limits.encrypted()));
    const parse_status status = second.give(again.size(), parser_kind::avx2);
    require(status.is_complete() && status.consumed() == again.size());
    require(without_size(testing::told(second.head())) == without_size(testing::told(in.head())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const head_limits limits = limits_from(data[0]);
    const std::uint16_t capacity = data[1] % 3 == 0 ? data[1] % 16 : 120;
    const std::size_t first = data[2];
    const std::size_t step = 1 + data[3] % 64;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

    const std::string whole = verdict(bytes, parser_kind::scalar, limits, capacity);
    for (const parser_kind kind : testing::kinds) {
        require(verdict(bytes, kind, limits, capacity) == whole);
        require(verdict(bytes, kind, first, step, limits, capacity) == whole);
        require(verdict(bytes, kind, 1, 1, limits, capacity) == whole);
    }
    if (whole != "more") require(verdict(std::string(bytes) + "\r\nX: y\r\n\r\n", parser_kind::avx2, limits, capacity) == whole);
    check_written_again(bytes, limits);
    return 0;
}
