#include <martlet/wire/http/range.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/field_list.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr std::uint64_t position_max = std::numeric_limits<std::uint64_t>::max();

// About what the head of a part takes: a smaller gap is cheaper to send than to leave out.
constexpr std::uint64_t gap_bytes = 80;

// The number of `text`, which is digits only; what has more than 64 bits is the largest.
std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
    if (text.empty() || !scan::all_in(scan::byte_class::digit, text)) return std::nullopt;
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc::result_out_of_range ? position_max : number;
}

// One range-spec: not grammatical, beyond the end, or a range.
enum class spec_kind : std::uint8_t { bad, beyond, range };

spec_kind read_spec(std::string_view text, std::uint64_t size_bytes, byte_range& range) noexcept {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) return spec_kind::bad;
    const std::string_view last_text = text.substr(dash + 1);
    if (dash == 0) {
        const auto suffix = number_of(last_text);
        if (!suffix) return spec_kind::bad;
        if (*suffix == 0) return spec_kind::beyond;
        range = byte_range(size_bytes - std::min(*suffix, size_bytes), size_bytes - 1);
        return spec_kind::range;
    }
    const auto first = number_of(text.substr(0, dash));
    const auto last = last_text.empty() ? position_max : number_of(last_text);
    if (!first || !last || *last < *first) return spec_kind::bad;
    if (*first >= size_bytes) return spec_kind::beyond;
    range = byte_range(*first, std::min(*last, size_bytes - 1));
    return spec_kind::range;
}

// Ends are below a size that fits 64 bits, but their sum with the gap need not.
bool is_close(byte_range a, byte_range b) noexcept {
    if (a.first() > b.first()) std::swap(a, b);
    return b.first() <= a.last() || b.first() - a.last() <= gap_bytes;
}

}  // namespace

void range_set::add(byte_range range) noexcept {
    std::size_t place = count_;
    for (std::size_t i = 0; i < count_;) {
        if (!is_close(ranges_[i], range)) {
            ++i;
            continue;
        }
        // Grown by the one it takes in, it may now reach what was looked at before: begin anew.
        range = byte_range(std::min(range.first(), ranges_[i].first()), std::max(range.last(), ranges_[i].last()));
        std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(i) + 1, ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                  ranges_.begin() + static_cast<std::ptrdiff_t>(i));
        --count_;
        place = std::min(place, i);
        i = 0;
    }
    place = std::min(place, count_);
    std::copy_backward(ranges_.begin() + static_cast<std::ptrdiff_t>(place), ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                       ranges_.begin() + static_cast<std::ptrdiff_t>(count_) + 1);
    ranges_[place] = range;
    ++count_;
}

range_set range_set::parse(std::string_view value, std::uint64_t size_bytes, const range_limits& limits) noexcept {
    constexpr std::string_view unit = "bytes=";
    range_set made;
    value = trim(value);
    // Some clients send a Range with every request; of an empty representation the whole is the only answer that is no error.
    if (size_bytes == 0 || !scan::equal_ignoring_case(value.substr(0, unit.size()), unit)) return made;
    list_reader specs(value.substr(unit.size()));
    range_set found;
    std::size_t given = 0;
    while (const auto spec = specs.next()) {
        byte_range range;
        const spec_kind kind = read_spec(*spec, size_bytes, range);
        if (kind == spec_kind::bad || ++given > limits.ranges_max()) return made;
        if (kind == spec_kind::range) found.add(range);
    }
    if (given == 0) return made;
    found.outcome_ = found.count_ > 0 ? range_outcome::satisfiable : range_outcome::unsatisfiable;
    return found;
}

void append_content_range(std::string& out, byte_range range, std::uint64_t size_bytes) {
    out.append("bytes ").append(std::to_string(range.first())).append("-").append(std::to_string(range.last()));
    out.append("/").append(std::to_string(size_bytes));
}

void append_unsatisfied_range(std::string& out, std::uint64_t size_bytes) { out.append("bytes */").append(std::to_string(size_bytes)); }

std::optional<content_range> content_range::parse(std::string_view value) noexcept {
    constexpr std::string_view unit = "bytes ";
    value = trim(value);
    const std::size_t slash = value.find('/');
    if (slash == std::string_view::npos || !scan::equal_ignoring_case(value.substr(0, unit.size()), unit)) return std::nullopt;
    const std::string_view part = value.substr(unit.size(), std::max(slash, unit.size()) - unit.size());
    const std::string_view size = value.substr(slash + 1);
    content_range made;
    if (size != "*") {
        made.size_bytes_ = number_of(size);
        if (!made.size_bytes_ || *made.size_bytes_ == position_max) return std::nullopt;
    }
    if (part == "*") return made.size_bytes_ ? std::optional(made) : std::nullopt;
    const std::size_t dash = part.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto first = number_of(part.substr(0, dash));
    const auto last = number_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last == position_max) return std::nullopt;
    if (made.size_bytes_ && *last >= *made.size_bytes_) return std::nullopt;
    made.range_ = byte_range(*first, *last);
    return made;
}

std::string byteranges_frame::content_type() const { return std::string("multipart/byteranges; boundary=").append(boundary_); }

void byteranges_frame::append_part_head(std::string& out, byte_range range) const {
    out.append("\r\n--").append(boundary_).append("\r\n");
    if (!part_type_.empty()) out.append("Content-Type: ").append(part_type_).append("\r\n");
    out += "Content-Range: ";
    append_content_range(out, range, size_bytes_);
    out += "\r\n\r\n";
}

void byteranges_frame::append_end(std::string& out) const { out.append("\r\n--").append(boundary_).append("--\r\n"); }

std::uint64_t byteranges_frame::content_bytes(std::span<const byte_range> ranges) const {
    std::string frame;
    std::uint64_t bytes = 0;
    for (const byte_range range : ranges) {
        append_part_head(frame, range);
        bytes += range.bytes();
    }
    append_end(frame);
    return bytes + frame.size();
}

}  // namespace martlet::inline v0::http
