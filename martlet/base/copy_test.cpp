#include <martlet/base/copy.hpp>

#include <string>

#include <gtest/gtest.h>

namespace martlet {
namespace {

std::string numbered(std::size_t bytes) {
    std::string made(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<char>('0' + i);
    return made;
}

TEST(copy, takes_every_length_and_no_byte_more) {
    for (std::size_t bytes = 8; bytes <= 64; ++bytes) {
        for (std::size_t shift = 0; shift < 3; ++shift) {
            const std::string from = numbered(bytes + shift);
            std::string to(bytes + shift + 2, '~');
            copy_8_to_64(to.data() + shift, from.data() + shift, bytes);
            EXPECT_EQ(to, std::string(shift, '~') + from.substr(shift) + "~~") << bytes;
        }
    }
}

TEST(copy, copies_whole_blocks) {
    const std::string from = numbered(65);
    std::string to(66, '~');
    copy_blocks<64>(to.data() + 1, from.data() + 1);
    EXPECT_EQ(to, "~" + from.substr(1) + "~");
}

}  // namespace
}  // namespace martlet
