// What the tests of this folder share: a watcher and a log that are kept, answers taken apart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/log.hpp>
#include <martlet/server/exchange.hpp>
#include <martlet/server/observer.hpp>

namespace martlet::server::testing {

/// Writes down what it is told, one word or two for each call. For one thread.
class recorder final : public observer {
public:
    void accepted(connection_id) noexcept override { add("accepted"); }
    void head(connection_id, const exchange& x) noexcept override {
        add("head " + std::string(x.method_text()) + " " + std::string(x.target()));
    }
    void response_head(connection_id, const exchange&, int status) noexcept override { add("answer " + std::to_string(status)); }
    void end(connection_id, const exchange&, int status, std::uint64_t response_bytes) noexcept override {
        add("end " + std::to_string(status));
        response_bytes_.push_back(response_bytes);
    }
    void refused(connection_id, error why) noexcept override { add("refused " + std::to_string(why.http_status())); }
    void limit_hit(connection_id, std::string_view name) noexcept override { add("limit " + std::string(name)); }
    void closed(connection_id, close_reason why) noexcept override { add("closed " + std::string(server::text(why))); }

    /// Everything so far, in order.
    std::string text() const {
        std::string all;
        for (const std::string& line : lines_) all += (all.empty() ? "" : ", ") + line;
        return all;
    }
    std::size_t count(std::string_view line) const {
        std::size_t found = 0;
        for (const std::string& each : lines_) found += each == line;
        return found;
    }
    const std::vector<std::uint64_t>& response_bytes() const { return response_bytes_; }
    void clear() {
        lines_.clear();
        response_bytes_.clear();
    }

private:
    void add(std::string line) { lines_.push_back(std::move(line)); }

    std::vector<std::string> lines_;
    std::vector<std::uint64_t> response_bytes_;
};

/// Keeps what is logged while it lives.
class kept_log final : public log::sink {
public:
    kept_log() : before_(log::set_sink(this)) {}
    kept_log(const kept_log&) = delete;
    kept_log& operator=(const kept_log&) = delete;
    ~kept_log() { log::set_sink(before_); }

    void write(const log::record& what) noexcept override {
        char line[512];
        const std::size_t size = log::format_line(what, line);
        const std::lock_guard held(lock_);
        lines_.emplace_back(line, size);
    }
    /// How many records contain `part`.
    std::size_t count(std::string_view part) const {
        const std::lock_guard held(lock_);
        std::size_t found = 0;
        for (const std::string& line : lines_) found += line.find(part) != line.npos;
        return found;
    }
    std::string text() const {
        const std::lock_guard held(lock_);
        std::string all;
        for (const std::string& line : lines_) all += line + "\n";
        return all;
    }

private:
    mutable std::mutex lock_;
    std::vector<std::string> lines_;
    log::sink* before_;
};

/// An answer as it came over the wire.
struct wire_answer {
    int status = 0;
    std::string head;
    std::string content;

    /// The value of the first field of that name, spelled exactly so; "<none>" without one.
    std::string field(std::string_view name) const {
        const std::size_t at = head.find("\r\n" + std::string(name) + ": ");
        if (at == head.npos) return "<none>";
        const std::size_t begin = at + name.size() + 4;
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
    bool closes() const { return field("Connection") == "close"; }
};

/// Takes `bytes` apart; anything that is no whole answer fails the test. `to_head` names the answers, by number, that have no content.
inline std::vector<wire_answer> answers_in(std::string_view bytes, const std::vector<std::size_t>& to_head = {}) {
    std::vector<wire_answer> found;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find("\r\n\r\n");
        if (end == bytes.npos || !bytes.starts_with("HTTP/1.1 ") || bytes.size() < 12) {
            ADD_FAILURE() << "no answer: " << bytes.substr(0, 200);
            return found;
        }
        wire_answer one;
        one.head = bytes.substr(0, end + 2);
        one.status = std::stoi(std::string(bytes.substr(9, 3)));
        bytes.remove_prefix(end + 4);
        const bool expects_content =
            one.status != 204 && one.status != 304 && std::find(to_head.begin(), to_head.end(), found.size()) == to_head.end();
        if (expects_content) {
            const std::string length = one.field("Content-Length");
            const std::size_t size = length == "<none>" ? 0 : std::stoul(length);
            if (length == "<none>" || size > bytes.size()) {
                ADD_FAILURE() << "an answer cut short: " << one.head << " with " << bytes.size() << " bytes behind it";
                return found;
            }
            one.content = bytes.substr(0, size);
            bytes.remove_prefix(size);
        }
        found.push_back(std::move(one));
    }
    return found;
}

/// "200 root, 404 Not Found": each answer's status and content.
inline std::string summary(const std::vector<wire_answer>& answers) {
    std::string all;
    for (const wire_answer& each : answers)
        all += (all.empty() ? "" : ", ") + std::to_string(each.status) + " " + each.content.substr(0, 40);
    return all;
}
inline std::string summary(std::string_view bytes) { return summary(answers_in(bytes)); }

/// A request; `more` is further field lines, each with its CRLF.
inline std::string request_text(std::string_view method, std::string_view target, std::string_view more = {}) {
    return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: example.com\r\n" + std::string(more) + "\r\n";
}
inline std::string get(std::string_view target, std::string_view more = {}) { return request_text("GET", target, more); }

/// `size` bytes of text that tell their place.
inline std::string letters(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i + i / 26) % 26);
    return text;
}

}  // namespace martlet::server::testing
