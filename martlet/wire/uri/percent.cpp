#include <martlet/wire/uri/percent.hpp>

#include <array>

#include <martlet/base/scan.hpp>
#include <martlet/wire/uri/error.hpp>

namespace martlet::inline v0::uri {

namespace {

constexpr char hex_digits[] = "0123456789ABCDEF";

// Indexed by byte; bit n is set when the byte stays as it is in component n.
constexpr std::array<std::uint8_t, 256> make_kept() noexcept {
    std::array<std::uint8_t, 256> table{};
    const auto keep = [&table](component where, std::string_view bytes) {
        for (const char c : bytes) table[static_cast<unsigned char>(c)] |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(where));
    };
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    for (unsigned where = 0; where < 8; ++where) {
        keep(static_cast<component>(where), letters);
        if (static_cast<component>(where) != component::form) keep(static_cast<component>(where), "~");
    }
    keep(component::segment, "!$&'()*+,;=:@");
    keep(component::path, "!$&'()*+,;=:@/");
    keep(component::query, "!$&'()*+,;=:@/?");
    keep(component::query_part, "!$'()*,;:@/?");
    keep(component::user, "!$&'()*+,;=");
    keep(component::form, "*");
    keep(component::reference, "!$&'()*+,;=:@/?#[]%");
    return table;
}

constexpr std::array<std::uint8_t, 256> kept = make_kept();

constexpr bool is_kept(char c, component where) noexcept {
    return (kept[static_cast<unsigned char>(c)] >> static_cast<unsigned>(where) & 1) != 0;
}

// By byte; -1 for what is no digit.
constexpr std::array<std::int8_t, 256> hex_values = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (int digit = 0; digit < 16; ++digit) {
        const char c = hex_digits[digit];
        table[static_cast<unsigned char>(c)] = static_cast<std::int8_t>(digit);
        table[static_cast<unsigned char>(scan::lower(c))] = static_cast<std::int8_t>(digit);
    }
    return table;
}();

constexpr int hex_value(char c) noexcept { return hex_values[static_cast<unsigned char>(c)]; }

// Reads one decoded byte after another.
class decoder {
public:
    decoder(std::string_view text, plus_sign plus) noexcept : text_(text), plus_(plus) {}

    bool is_at_end() const noexcept { return next_ == text_.size(); }
    /// The next byte, 0 to 255; -1 when an escape is bad.
    int take() noexcept {
        const char c = text_[next_];
        if (c != '%') {
            ++next_;
            return c == '+' && plus_ == plus_sign::space ? ' ' : static_cast<unsigned char>(c);
        }
        if (text_.size() - next_ < 3) return -1;
        const int high = hex_value(text_[next_ + 1]);
        const int low = hex_value(text_[next_ + 2]);
        if (high < 0 || low < 0) return -1;
        next_ += 3;
        return high * 16 + low;
    }

private:
    std::string_view text_;
    std::size_t next_ = 0;
    plus_sign plus_;
};

bool is_plain(std::string_view text, plus_sign plus) noexcept {
    return text.find('%') == std::string_view::npos && (plus == plus_sign::literal || text.find('+') == std::string_view::npos);
}

}  // namespace

bool append_decoded(std::string& out, std::string_view text, plus_sign plus) {
    const std::size_t before = out.size();
    bool is_good = true;
    out.resize_and_overwrite(before + text.size(), [&](char* bytes, std::size_t) noexcept {
        char* at = bytes + before;
        for (decoder in(text, plus); !in.is_at_end();) {
            const int byte = in.take();
            if (byte < 0) [[unlikely]] {
                is_good = false;
                return before;
            }
            *at++ = static_cast<char>(byte);
        }
        return static_cast<std::size_t>(at - bytes);
    });
    return is_good;
}

result<std::string> decode(std::string_view text, plus_sign plus) {
    std::string out;
    if (!append_decoded(out, text, plus)) return failure(make_error(errc::bad_escape, blame::peer));
    return out;
}

result<std::string_view> decode(std::string_view text, std::string& space, plus_sign plus) {
    if (is_plain(text, plus)) return text;
    result<std::string> decoded = decode(text, plus);
    if (!decoded) return failure(decoded.error());
    space = std::move(*decoded);
    return std::string_view(space);
}

bool decodes_to(std::string_view text, std::string_view plain, plus_sign plus) noexcept {
    std::size_t i = 0;
    for (decoder in(text, plus); !in.is_at_end(); ++i) {
        const int byte = in.take();
        if (byte < 0 || i == plain.size() || static_cast<unsigned char>(plain[i]) != byte) return false;
    }
    return i == plain.size();
}

bool is_well_escaped(std::string_view text) noexcept {
    for (decoder in(text, plus_sign::literal); !in.is_at_end();) {
        if (in.take() < 0) return false;
    }
    return true;
}

void append_encoded(std::string& out, std::string_view text, component where) {
    for (const char c : text) {
        if (is_kept(c, where)) {
            out.push_back(c);
        } else if (c == ' ' && where == component::form) {
            out.push_back('+');
        } else {
            const auto byte = static_cast<unsigned char>(c);
            const char escape[] = {'%', hex_digits[byte >> 4], hex_digits[byte & 15]};
            out.append(escape, sizeof(escape));
        }
    }
}

std::string encode(std::string_view text, component where) {
    std::string out;
    out.reserve(text.size());
    append_encoded(out, text, where);
    return out;
}

}  // namespace martlet::inline v0::uri
