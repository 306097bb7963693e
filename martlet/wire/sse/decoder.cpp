#include <martlet/wire/sse/decoder.hpp>

#include <charconv>

#include <martlet/base/scan.hpp>
#include <martlet/wire/sse/error.hpp>

namespace martlet::inline v0::sse {

result<bool> decoder::feed(std::string_view& bytes) {
    if (failed_) return failure(make_error(errc::event_too_long));
    if (complete_) {
        name_.clear();
        data_.clear();
        complete_ = false;
    }
    while (!bytes.empty()) {
        if (behind_cr_) {
            behind_cr_ = false;
            if (bytes.front() == '\n') {
                bytes.remove_prefix(1);
                continue;
            }
        }
        const std::size_t end = bytes.find_first_of("\r\n");
        const std::string_view piece = bytes.substr(0, end);
        // Judged before it is kept, and alike for a line that came whole.
        if (piece.size() > limits_.event_bytes_max() - line_.size()) {
            failed_ = true;
            return failure(make_error(errc::event_too_long));
        }
        if (end == std::string_view::npos) {
            line_ += piece;
            bytes = {};
            return false;
        }
        behind_cr_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        result<bool> taken = false;
        if (line_.empty()) {
            taken = take_line(piece);
        } else {
            line_ += piece;
            taken = take_line(line_);
            line_.clear();
        }
        if (!taken || *taken) return taken;
    }
    return false;
}

result<bool> decoder::take_line(std::string_view line) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (first_line_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    first_line_ = false;
    if (line.empty()) return dispatch();
    const std::size_t colon = line.find(':');
    if (colon == 0) return false;
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
    // The LF behind the last line does not count.
    if (!data_.empty() && data_.size() - 1 > limits_.event_bytes_max()) {
        failed_ = true;
        return failure(make_error(errc::event_too_long));
    }
    return false;
}

void decoder::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        data_.append(value).append("\n");
    } else if (name == "event") {
        name_ = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) id_ = value;
    } else if (name == "retry") {
        std::chrono::milliseconds::rep wait = 0;
        if (value.empty() || !scan::all_in(scan::byte_class::digit, value)) return;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), wait);
        retry_ = read.ec == std::errc() ? std::chrono::milliseconds(wait) : std::chrono::milliseconds::max();
    }
}

bool decoder::dispatch() {
    last_id_ = id_;
    if (data_.empty()) {
        name_.clear();
        return false;
    }
    data_.pop_back();
    complete_ = true;
    return true;
}

void decoder::restart() noexcept {
    line_.clear();
    name_.clear();
    data_.clear();
    id_ = last_id_;
    first_line_ = true;
    behind_cr_ = complete_ = failed_ = false;
}

}  // namespace martlet::inline v0::sse
