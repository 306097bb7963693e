// Whatever a Range field holds, what is sent lies inside the representation, no byte twice, and no two parts closer than they could be one;
// asked for again, it is sent again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <martlet/wire/http/range.hpp>

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace http = martlet::http;
    if (size < 9) return 0;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, data, sizeof(bytes));
    if ((data[8] & 1) != 0) bytes %= 1000;
    const std::size_t ranges_max = data[8] % (http::ranges_cap + 1);
    const std::string_view text(reinterpret_cast<const char*>(data) + 9, size - 9);

    const auto set = http::range_set::parse(text, bytes, http::range_limits().ranges_max(ranges_max));
    require(set.ranges().size() <= ranges_max && set.ranges().empty() == (set.outcome() != http::range_outcome::satisfiable));
    std::uint64_t sum = 0;
    for (const http::byte_range& range : set.ranges()) {
        require(range.first() <= range.last() && range.last() < bytes);
        sum += range.bytes();
        require(sum <= bytes);
        for (const http::byte_range& other : set.ranges()) {
            if (&other != &range && other.first() >= range.first())
                require(other.first() > range.last() && other.first() - range.last() > 80);
        }
        std::string written;
        http::append_content_range(written, range, bytes);
        const auto read = http::content_range::parse(written);
        // The largest number stands for all that are larger, and no whole is of that size.
        if (bytes < UINT64_MAX) require(read && read->range() == range && read->size_bytes() == bytes);
    }
    if (set.outcome() == http::range_outcome::satisfiable) {
        std::string asked = "bytes=";
        for (const http::byte_range& range : set.ranges())
            asked += std::to_string(range.first()) + "-" + std::to_string(range.last()) + ",";
        asked.pop_back();
        const auto again = http::range_set::parse(asked, bytes, http::range_limits().ranges_max(ranges_max));
        require(std::ranges::equal(again.ranges(), set.ranges()));
    }
    if (const auto read = http::content_range::parse(text); read && read->range() && read->size_bytes()) {
        require(read->range()->last() < *read->size_bytes());
    }
    return 0;
}
