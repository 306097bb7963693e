// Random operations on a buffer and a string: they always hold the same, and the padding can always be read.
#include <martlet/base/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace martlet;

namespace {

void check(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto next = [&]() -> std::size_t {
        if (size == 0) return 0;
        --size;
        return *data++;
    };
    const std::size_t limit = next() * (1 + next());
    std::string storage(limit + 1 + padding_bytes, '\0');
    const bool adopted = next() % 4 == 0;
    buffer b = adopted ? buffer::over(storage.data(), storage.size()) : buffer(limit);
    const std::size_t bound = b.limit_bytes();
    std::string model;
    while (size != 0) {
        const std::size_t op = next();
        const std::size_t n = next() * (1 + op / 16);
        switch (op % 8) {
        case 0:
        case 1:
        case 2: {
            const std::span<char> room = b.prepare(n);
            check((n == 0 || room.size() >= n) == (model.size() + n <= bound));
            check(model.size() + room.size() <= bound);
            if (room.size() < n) break;
            if (n != 0) std::memset(room.data(), static_cast<int>(op), n);
            b.commit(n);
            model.append(n, static_cast<char>(op));
            break;
        }
        case 3:
            if (op % 64 == 3) {
                b.release();
                model.clear();
            }
            break;
        case 4: {
            buffer moved(std::move(b));
            b = std::move(moved);
            break;
        }
        default: {
            const std::size_t gone = std::min(n, model.size());
            b.consume(gone);
            model.erase(0, gone);
        }
        }
        check(b.view() == model);
        const padded_view padded = b.padded();
        char behind[padding_bytes];
        std::memcpy(behind, padded.data() + padded.size(), padding_bytes);
        check(padded.from(model.size() / 2).view() == std::string_view(model).substr(model.size() / 2));
    }
    return 0;
}
