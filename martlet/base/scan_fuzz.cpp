// The wide scans find what the scalar ones find, whatever stands before, in and behind the text.
#include <martlet/base/scan.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace martlet;

namespace {

void check(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    const char wanted = static_cast<char>(data[0]);
    const std::string_view all(reinterpret_cast<const char*>(data) + 3, size - 3);
    const std::size_t begin = all.empty() ? 0 : data[1] % all.size();
    const std::size_t behind = data[2] % (all.size() - begin + 1);

    // The bytes cut off behind the text stay in memory as its padding.
    buffer b(size + padding_bytes);
    if (!b.append(all)) return 0;
    buffer cut(size + padding_bytes);
    const std::span<char> room = cut.prepare(all.size());
    if (room.empty()) return 0;
    all.copy(room.data(), all.size());
    cut.commit(all.size() - behind);
    cut.consume(begin);

    for (const buffer* one : {&b, &cut}) {
        const std::string_view text = one->view();
        for (const scan::width with : {scan::width::scalar, scan::width::sse2, scan::width::avx2}) {
            if (with > scan::best_width()) continue;
            check(scan::find_byte_with(with, one->padded(), wanted) == text.find(wanted));
            const std::size_t blank = text.find("\r\n\r\n");
            check(scan::find_head_end_with(with, one->padded()) == (blank == scan::npos ? scan::npos : blank + 4));
            for (const auto set : {scan::byte_class::token, scan::byte_class::path, scan::byte_class::field_value, scan::byte_class::digit,
                                   scan::byte_class::hex_digit}) {
                check(scan::find_not_in_with(with, set, one->padded()) == scan::find_not_in(set, text));
            }
        }
    }
    return 0;
}
