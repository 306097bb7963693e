// Whatever is logged becomes one line: no control byte gets through, and it never grows beyond its place.
#include <martlet/base/log.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

using namespace martlet;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    const std::string_view all(reinterpret_cast<const char*>(data) + 3, size - 3);
    const std::string_view message = all.substr(0, data[0]);
    const std::string_view name = all.substr(message.size()).substr(0, data[1]);
    const std::string_view value = all.substr(message.size() + name.size());
    const log::field fields[] = {log::field(name, value), log::field("length", value.size())};
    std::vector<char> out(data[2] * std::size_t{8});
    const std::size_t length = log::format_line(log::record(log::level::info, message, fields), out);
    if (length > out.size()) std::abort();
    for (std::size_t i = 0; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(out[i]);
        if (byte < 0x20 || byte == 0x7f) std::abort();
    }
    return 0;
}
