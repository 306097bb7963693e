#include <martlet/server/field_block.hpp>

#include <cstring>
#include <new>

#include <martlet/base/scan.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::server {

void field_block::release() noexcept { martlet::detail::free_frame(bytes_); }

bool field_block::grow(std::size_t wanted) noexcept {
    std::size_t capacity = capacity_ == 0 ? 448 : capacity_ * 2u;
    while (capacity < wanted) capacity *= 2;
    char* bytes;
    try {
        bytes = static_cast<char*>(martlet::detail::allocate_frame(capacity));
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (bytes_ != nullptr) {
        std::memcpy(bytes, bytes_, size_);
        martlet::detail::free_frame(bytes_);
    }
    bytes_ = bytes;
    capacity_ = static_cast<std::uint32_t>(capacity);
    return true;
}

bool field_block::add(std::string_view name, http::field_value value) noexcept {
    const std::string_view text = value.text();
    const std::size_t wanted = size_ + name.size() + text.size() + 4;
    if (wanted > bytes_max) return false;
    if (wanted > capacity_ && !grow(wanted)) return false;
    char* at = bytes_ + size_;
    std::memcpy(at, name.data(), name.size());
    at += name.size();
    *at++ = ':';
    *at++ = ' ';
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
    *at++ = '\r';
    *at++ = '\n';
    size_ = static_cast<std::uint32_t>(at - bytes_);
    return true;
}

namespace {

/// The lines of a block, one after the other.
class line_cursor {
public:
    explicit line_cursor(std::string_view from) noexcept : rest_(from) {}
    bool next() noexcept {
        if (rest_.empty()) return false;
        line_ = rest_.substr(0, rest_.find('\n') + 1);
        rest_.remove_prefix(line_.size());
        return true;
    }
    std::string_view line() const noexcept { return line_; }
    bool has_name(std::string_view name) const noexcept {
        return line_.size() > name.size() && line_[name.size()] == ':' && scan::equal_ignoring_case(line_.substr(0, name.size()), name);
    }

private:
    std::string_view rest_;
    std::string_view line_;
};

}  // namespace

bool field_block::add_lines(std::string_view lines) noexcept {
    if (lines.empty()) return true;
    const std::size_t wanted = size_ + lines.size();
    if (wanted > bytes_max || (wanted > capacity_ && !grow(wanted))) return false;
    std::memcpy(bytes_ + size_, lines.data(), lines.size());
    size_ = static_cast<std::uint32_t>(wanted);
    return true;
}

std::optional<std::string_view> field_block::find(std::string_view name) const noexcept {
    line_cursor at(view());
    while (at.next()) {
        if (at.has_name(name)) return at.line().substr(name.size() + 2, at.line().size() - name.size() - 4);
    }
    return std::nullopt;
}

std::size_t field_block::remove_before(std::string_view name, std::uint32_t end) noexcept {
    std::size_t removed = 0;
    char* kept_end = bytes_;
    line_cursor at(view());
    while (at.next()) {
        const std::string_view line = at.line();
        if (line.data() < bytes_ + end && at.has_name(name)) {
            ++removed;
            continue;
        }
        if (kept_end != line.data()) std::memmove(kept_end, line.data(), line.size());
        kept_end += line.size();
    }
    size_ = static_cast<std::uint32_t>(kept_end - bytes_);
    return removed;
}

}  // namespace martlet::inline v0::server
