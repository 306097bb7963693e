#include <martlet/base/scan.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace martlet::scan {
namespace {

constexpr byte_class all_classes[] = {byte_class::token, byte_class::path, byte_class::field_value, byte_class::digit,
                                      byte_class::hex_digit};

std::vector<width> widths() {
    std::vector<width> all = {width::scalar};
    if (best_width() >= width::sse2) all.push_back(width::sse2);
    if (best_width() >= width::avx2) all.push_back(width::avx2);
    return all;
}

/// `text` in a buffer, at `offset` from the start of its memory, with `behind` in the padding.
class placed {
public:
    placed(std::string_view text, std::size_t offset, std::string_view behind) : buffer_(2000) {
        auto room = buffer_.prepare(offset + text.size() + behind.size() + 64);
        std::memset(room.data(), '\r', offset);
        std::memcpy(room.data() + offset, text.data(), text.size());
        std::memcpy(room.data() + offset + text.size(), behind.data(), behind.size());
        buffer_.commit(offset + text.size());
        buffer_.consume(offset);
    }
    padded_view view() const { return buffer_.padded(); }

private:
    buffer buffer_;
};

// The oracles are written from the definitions, not from the tables.
bool is_member(byte_class set, unsigned char c) {
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    switch (set) {
    case byte_class::token: return alnum || (c != 0 && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
    case byte_class::path: return alnum || (c != 0 && std::strchr("-._~!$&'()*+,;=:@/", c) != nullptr);
    case byte_class::field_value: return c == 9 || (c >= 0x20 && c <= 0x7e) || c >= 0x80;
    case byte_class::digit: return c >= '0' && c <= '9';
    case byte_class::hex_digit: return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }
    return false;
}

std::size_t oracle_not_in(byte_class set, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_member(set, static_cast<unsigned char>(text[i]))) return i;
    }
    return npos;
}

std::size_t oracle_head_end(std::string_view text) {
    for (std::size_t i = 0; i + 4 <= text.size(); ++i) {
        if (text[i] == '\r' && text[i + 1] == '\n' && text[i + 2] == '\r' && text[i + 3] == '\n') return i + 4;
    }
    return npos;
}

TEST(scan, tables_hold_what_the_rfcs_say) {
    for (unsigned c = 0; c < 256; ++c) {
        for (const byte_class set : all_classes)
            EXPECT_EQ(is_in(set, static_cast<char>(c)), is_member(set, static_cast<unsigned char>(c))) << c;
        const bool upper = c >= 'A' && c <= 'Z';
        EXPECT_EQ(static_cast<unsigned char>(lower(static_cast<char>(c))), upper ? c + 32 : c);
    }
}

TEST(scan, token_and_case) {
    EXPECT_TRUE(is_token("GET"));
    EXPECT_FALSE(is_token(""));
    EXPECT_FALSE(is_token("a b"));
    EXPECT_FALSE(is_token("a:"));
    EXPECT_FALSE(is_token("\xc3\xa4"));
    EXPECT_TRUE(equal_ignoring_case("Content-LENGTH", "content-length"));
    EXPECT_FALSE(equal_ignoring_case("a", "ab"));
    EXPECT_FALSE(equal_ignoring_case("User\rAgent", "User-Agent")) << "only letters fold";
    EXPECT_FALSE(equal_ignoring_case("[", "{"));
    static_assert(equal_ignoring_case("AbC", "aBc"));
}

TEST(scan, every_byte_value_at_every_length) {
    // One byte of each value, as the last of a text of members, and the same byte in the padding, where it must not count.
    for (const byte_class set : all_classes) {
        for (unsigned c = 0; c < 256; ++c) {
            const char byte = static_cast<char>(c);
            const std::string behind(64, byte);
            for (const std::size_t length : {0u, 1u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 64u, 65u, 100u}) {
                const std::string members(length, '7');
                const std::string text = members + byte;
                const placed clean(members, c % 33, behind);
                const placed dirty(text, c % 33, behind);
                const std::size_t expected = oracle_not_in(set, text);
                ASSERT_EQ(find_not_in(set, text), expected);
                for (const width with : widths()) {
                    ASSERT_EQ(find_not_in_with(with, set, clean.view()), npos) << c << " behind " << length;
                    ASSERT_EQ(find_not_in_with(with, set, dirty.view()), expected) << c << " at " << length;
                }
            }
        }
    }
}

TEST(scan, every_length_and_alignment) {
    for (std::size_t length = 0; length <= 300; ++length) {
        for (std::size_t offset = 0; offset < 33; offset += length < 70 ? 1 : 5) {
            const std::string members(length, 'a');
            const placed clean(members, offset, std::string("\0\r\n\r\n!", 6));
            for (const width with : widths()) {
                ASSERT_EQ(find_byte_with(with, clean.view(), '!'), npos);
                ASSERT_EQ(find_head_end_with(with, clean.view()), npos);
                for (const byte_class set : all_classes) {
                    ASSERT_EQ(find_not_in_with(with, set, clean.view()), set == byte_class::digit && length != 0 ? 0 : npos);
                }
            }
            for (std::size_t at = length > 40 ? length - 40 : 0; at < length; ++at) {
                std::string text = members;
                text[at] = '\x01';
                const placed dirty(text, offset, "\x01");
                for (const width with : widths()) {
                    ASSERT_EQ(find_byte_with(with, dirty.view(), '\x01'), at);
                    ASSERT_EQ(find_not_in_with(with, byte_class::token, dirty.view()), at);
                    ASSERT_EQ(find_not_in_with(with, byte_class::path, dirty.view()), at);
                    ASSERT_EQ(find_not_in_with(with, byte_class::field_value, dirty.view()), at);
                }
                ASSERT_EQ(find_byte(text, '\x01'), at);
            }
        }
    }
}

TEST(scan, head_end_at_every_place) {
    for (std::size_t length = 4; length <= 300; ++length) {
        for (std::size_t at = 0; at + 4 <= length; at += length < 80 ? 1 : 7) {
            std::string text(length, 'x');
            text.replace(at, 4, "\r\n\r\n");
            // Near misses before it, and one that the end cuts.
            if (at >= 4) text.replace(at - 4, 4, "\r\n\rx");
            if (at >= 9) text.replace(at - 9, 4, "\n\r\n\r");
            if (length - at >= 7) text.replace(length - 3, 3, "\r\n\r");
            const placed one(text, length % 7, "\n\r\n");
            for (const width with : widths()) ASSERT_EQ(find_head_end_with(with, one.view()), oracle_head_end(text)) << length << " " << at;
            ASSERT_EQ(find_head_end(text), oracle_head_end(text));
        }
        // The end of the text cuts the blank line; the padding completes it.
        for (std::size_t cut = 1; cut < 4; ++cut) {
            const std::string text = std::string(length, 'x') + std::string("\r\n\r\n").substr(0, cut);
            const placed one(text, 3, std::string("\r\n\r\n").substr(cut));
            for (const width with : widths()) ASSERT_EQ(find_head_end_with(with, one.view()), npos);
        }
    }
}

TEST(scan, the_widest_is_what_runs) {
    const placed one("abc def", 0, "");
    EXPECT_EQ(find_byte(one.view(), ' '), 3u);
    EXPECT_EQ(find_not_in(byte_class::token, one.view()), 3u);
    EXPECT_EQ(find_head_end(one.view()), npos);
#if defined(__x86_64__)
    EXPECT_GE(best_width(), width::sse2);
#endif
}

}  // namespace
}  // namespace martlet::scan
