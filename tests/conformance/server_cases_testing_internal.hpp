// The cases of tests/vectors/http1 for a server: read, and what came back for one taken apart and judged. For the tests in memory and in the
// simulation; corpus.py is the same for sockets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tests/support/case_file.hpp>

namespace martlet::conformance {

using martlet::testing::fields;

/// What came back: statuses, interim ones included, the contents of the final ones, and whether the connection ended.
struct heard {
    std::vector<int> statuses;
    std::vector<std::string> contents;
    bool closed = false;
};

inline std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

inline std::string unchunked(std::string_view bytes, std::size_t& at) {
    std::string content;
    for (;;) {
        const std::size_t end = bytes.find("\r\n", at);
        if (end == bytes.npos) break;
        const std::size_t size = std::stoul(std::string(bytes.substr(at, end - at)), nullptr, 16);
        if (size == 0) {
            at = std::min(bytes.find("\r\n\r\n", end), bytes.size() - 4) + 4;
            return content;
        }
        content += bytes.substr(end + 2, size);
        at = end + 2 + size + 2;
    }
    at = bytes.size();
    return content;
}

inline heard taken_apart(std::string_view bytes, const std::vector<bool>& to_head, bool closed) {
    heard found;
    found.closed = closed;
    for (std::size_t at = 0, answered = 0; at < bytes.size();) {
        if (!bytes.substr(at).starts_with("HTTP/1.1 ")) {
            ADD_FAILURE() << "no answer: " << bytes.substr(at, 80);
            break;
        }
        const int status = std::stoi(std::string(bytes.substr(at + 9, 3)));
        found.statuses.push_back(status);
        const std::size_t end = bytes.find("\r\n\r\n", at);
        if (end == bytes.npos || status == 101) break;
        const std::string head = lower(std::string(bytes.substr(at, end + 2 - at)));
        at = end + 4;
        if (status < 200) continue;
        const bool empty = (answered < to_head.size() && to_head[answered]) || status == 204 || status == 304;
        ++answered;
        std::string content;
        if (!empty && head.find("\r\ntransfer-encoding: chunked\r\n") != head.npos) {
            content = unchunked(bytes, at);
        } else if (!empty) {
            const std::size_t length = head.find("\r\ncontent-length: ");
            const std::size_t size = length == head.npos ? bytes.size() - at : std::stoul(head.substr(length + 18));
            content = bytes.substr(at, size);
            at += size;
        }
        found.contents.push_back(std::move(content));
    }
    return found;
}

/// Which of the requests ask for a head only; found as a reader would, by the words at the beginning of lines.
inline std::vector<bool> heads_of(std::string_view requests) {
    std::vector<bool> found;
    for (std::size_t at = 0; at < requests.size(); ++at) {
        if (at != 0 && requests[at - 1] != '\r' && requests[at - 1] != '\n') continue;
        for (const std::string_view method : {"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "CONNECT ", "TRACE "}) {
            if (requests.substr(at).starts_with(method)) found.push_back(method == "HEAD ");
        }
    }
    return found;
}

// In the language of the case file: statuses and counts of accepted requests, with commas between.
inline bool matches(std::string_view expected, const heard& got) {
    std::vector<int> final;
    for (const int status : got.statuses) {
        if (status >= 200 || status == 101) final.push_back(status);
    }
    const bool interim = std::ranges::find(got.statuses, 100) != got.statuses.end();
    if (expected == "close") return final.empty() && got.closed;
    if (expected == "wait") return final.empty() && !got.closed;
    if (expected == "100") return interim && final.empty();
    constexpr int refusals[] = {400, 408, 411, 413, 414, 417, 421, 426, 431, 501, 505};
    constexpr int ending[] = {400, 408, 413, 414, 431, 501, 505};
    bool must_close = false, must_continue = false;
    std::size_t at = 0;
    while (!expected.empty()) {
        const std::string_view word = expected.substr(0, expected.find(','));
        expected.remove_prefix(std::min(expected.size(), word.size() + 1));
        if (word == "close") {
            must_close = true;
        } else if (word == "100") {
            must_continue = true;
        } else if (word.starts_with("ok:")) {
            for (int left = std::stoi(std::string(word.substr(3))); left != 0; --left, ++at) {
                if (at >= final.size() || std::ranges::find(refusals, final[at]) != std::end(refusals)) return false;
            }
        } else {
            const int status = std::stoi(std::string(word));
            if (at >= final.size() || final[at] != status) return false;
            // Behind a message that cannot be framed nothing may follow.
            if (at + 1 == final.size() && std::ranges::find(ending, status) != std::end(ending)) must_close = true;
            ++at;
        }
    }
    return at == final.size() && (got.closed || !must_close) && (interim || !must_continue);
}

inline std::string shown(const heard& got) {
    std::string text;
    for (const int status : got.statuses) text += std::to_string(status) + " ";
    return text + (got.closed ? "closed" : "open");
}

inline std::vector<fields> server_cases() {
    std::vector<fields> cases;
    for (const char* const name : {"http1/server-cases.jsonl", "http1/server-neighbours.jsonl", "http1/server-limits.jsonl"}) {
        const std::vector<fields> some = martlet::testing::read_cases(name);
        EXPECT_FALSE(some.empty()) << "tests/vectors/" << name << " is not above the working directory";
        cases.insert(cases.end(), some.begin(), some.end());
    }
    return cases;
}

/// Takes the strict answers, and those that are listed with a reason.
class case_judge {
public:
    case_judge() {
        for (const fields& each : martlet::testing::read_cases("http1/allowed-server-answers.jsonl")) {
            EXPECT_FALSE(each.at("reason").empty()) << each.at("id");
            allowed_[each.at("id")] = each.at("answer");
        }
    }

    void judge(const fields& each, std::string_view how, const heard& got) {
        const std::string& id = each.at("id");
        if (matches(each.at("expect"), got)) {
            if (each.contains("body") && each.at("expect").starts_with("ok") && !got.statuses.empty() && got.statuses.back() == 200) {
                EXPECT_EQ(got.contents.empty() ? "" : got.contents[0], each.at("body")) << id << ", " << how;
            }
            return;
        }
        const auto listed = allowed_.find(id);
        const bool is_listed = listed != allowed_.end() && matches(listed->second, got);
        if (is_listed) taken_.insert(id);
        EXPECT_TRUE(is_listed) << id << ", " << how << " (" << each.at("note") << "): " << shown(got) << ", not " << each.at("expect");
    }

    /// Each listed answer is one that its case permits, and is needed.
    void judge_list(const std::vector<fields>& cases) {
        for (const auto& [id, answer] : allowed_) {
            const auto has_id = [&name = id](const fields& each) { return each.at("id") == name; };
            const auto found = std::ranges::find_if(cases, has_id);
            ASSERT_NE(found, cases.end()) << id << " is listed and no case";
            EXPECT_TRUE(found->contains("allowed") && ("\n" + found->at("allowed")).find("\n" + answer + "\n") != answer.npos)
                << id << " does not permit " << answer;
            EXPECT_TRUE(taken_.contains(id)) << id << " is answered strictly and need not be listed";
        }
    }

private:
    std::map<std::string, std::string> allowed_;  // answers by ids, listed with their reasons
    std::set<std::string> taken_;
};

}  // namespace martlet::conformance
