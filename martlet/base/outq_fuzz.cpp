// Random operations on an outq and a string: what is read from the queue is always what the string says.
#include <martlet/base/outq.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace martlet;

namespace {

/// Gives bytes of the input, then zeros.
struct input {
    const std::uint8_t* data;
    std::size_t size;

    bool empty() const { return size == 0; }
    std::size_t byte() {
        if (size == 0) return 0;
        --size;
        return *data++;
    }
    std::size_t length() {
        const std::size_t scale = byte();
        return byte() << (scale % 8);
    }
};

/// Fails whenever the input says so.
struct failing_blocks final : block_source {
    std::size_t fail_every = 0;
    std::size_t calls = 0;
    std::size_t held = 0;

    char* allocate_block(std::size_t bytes) noexcept override {
        if (fail_every != 0 && ++calls % fail_every == 0) return nullptr;
        ++held;
        return malloc_blocks().allocate_block(bytes);
    }
    void free_block(char* block, std::size_t bytes) noexcept override {
        --held;
        malloc_blocks().free_block(block, bytes);
    }
};

void check(bool condition) {
    if (!condition) std::abort();
}

char file_byte(std::uint64_t offset) { return static_cast<char>(offset * 7 % 251); }

int files;
file_range file_of(std::uint64_t offset, std::uint64_t length) {
    ++files;
    return file_range(file_owner::adopt(3, [](int, void*) noexcept { --files; }).value(), offset, length);
}

std::string text_of(std::size_t length, std::size_t seed) {
    std::string text(length, '\0');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(i + seed);
    return text;
}

void take(outq& q, std::string& model, std::size_t wanted, std::size_t vectors) {
    std::size_t seen = 0;
    if (const file_range* file = q.front_file()) {
        seen = std::min<std::size_t>(wanted, file->length());
        for (std::size_t i = 0; i < seen; ++i) check(model[i] == file_byte(file->offset() + i));
    } else {
        const_buffer out[8];
        std::string part;
        const std::size_t filled = q.gather(std::span(out, 1 + vectors % 8));
        check((filled != 0) == !model.empty());
        for (std::size_t i = 0; i < filled; ++i) part.append(static_cast<const char*>(out[i].data), out[i].size);
        seen = std::min(wanted, part.size());
        check(model.compare(0, seen, part, 0, seen) == 0);
    }
    q.consume(seen);
    model.erase(0, seen);
}

void add(outq& q, std::string& model, input& in) {
    const std::size_t kind = in.byte();
    const std::size_t length = in.length();
    const std::string text = text_of(length, kind);
    switch (kind % 4) {
    case 0:
        if (q.append_copy(text)) model += text;
        return;
    case 1: {
        char* to = q.cork(length);
        if (to == nullptr) return;
        const std::size_t used = std::min(length, in.length());
        if (used != 0) std::memcpy(to, text.data(), used);
        q.commit(used);
        model.append(text, 0, used);
        return;
    }
    case 2:
        if (q.append(slice::own(std::string(text)))) model += text;
        return;
    default:
        if (!q.append(file_of(kind, length))) return;
        for (std::size_t i = 0; i < length; ++i) model += file_byte(kind + i);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in{data, size};
    failing_blocks blocks;
    blocks.fail_every = in.byte() % 16;
    {
        const std::size_t limit = in.byte() % 2 == 0 ? outq::no_limit : in.length();
        outq q(blocks, limit), side(blocks);
        std::string model, side_model;
        while (!in.empty() && model.size() < 1'000'000) {
            switch (in.byte() % 8) {
            case 0:
            case 1: add(q, model, in); break;
            case 2: add(side, side_model, in); break;
            case 3:
                q.splice(side);
                model += side_model;
                side_model.clear();
                break;
            case 4:
                if (in.byte() % 8 == 0) {
                    q.clear();
                    model.clear();
                }
                break;
            case 5: q = outq(std::move(q)); break;
            default: take(q, model, in.length(), in.byte());
            }
            check(q.size() == model.size() && side.size() == side_model.size());
        }
        while (!model.empty()) take(q, model, model.size(), 7);
        check(q.empty() && q.block_bytes_held() == 0);
    }
    check(files == 0 && blocks.held == 0);
    return 0;
}
