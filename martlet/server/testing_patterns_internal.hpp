// For tests of the router: one that looks at every pattern, and patterns and paths at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace martlet::server::testing {

/// Numbers that are the same in each run.
class sequence {
public:
    explicit sequence(std::uint64_t seed) noexcept : state_(seed) {}
    unsigned below(unsigned end) noexcept {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(state_ >> 33) % end;
    }

private:
    std::uint64_t state_;
};

inline std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> all;
    for (std::size_t begin = 1; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        all.emplace_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return all;
}

/// Keeps patterns in a list, and takes the most specific of those that match.
class slow_router {
public:
    void add(const std::string& pattern) {
        if (std::find(patterns_.begin(), patterns_.end(), pattern) == patterns_.end()) patterns_.push_back(pattern);
    }
    std::string text() const {
        std::string all;
        for (const std::string& each : patterns_) all += each + " ";
        return all;
    }
    /// "PATTERN name=part name=part", or "none".
    std::string taken(const std::string& path) const {
        if (path.empty() || path.front() != '/') return "none";
        std::string best = "none";
        std::string best_rank;
        for (const std::string& pattern : patterns_) {
            std::string rank;
            std::string described = pattern;
            if (matches(pattern, path, rank, described) && (best == "none" || rank < best_rank)) {
                best = described;
                best_rank = rank;
            }
        }
        return best;
    }

private:
    // The rank has a letter for each segment, so that the first in the order of text is the most specific.
    static bool matches(const std::string& pattern, const std::string& path, std::string& rank, std::string& described) {
        const std::vector<std::string> wanted = segments_of(pattern);
        const std::vector<std::string> parts = segments_of(path);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (i >= parts.size()) return false;
            const char first = wanted[i].empty() ? '\0' : wanted[i].front();
            if (first == '*') {
                std::string rest;
                for (std::size_t j = i; j < parts.size(); ++j) rest += (j == i ? "" : "/") + parts[j];
                described += " " + wanted[i].substr(1) + "=" + rest;
                rank += 'c';
                return true;
            }
            if (first == ':') {
                if (parts[i].empty()) return false;
                described += " " + wanted[i].substr(1) + "=" + parts[i];
                rank += 'b';
            } else {
                if (wanted[i] != parts[i]) return false;
                rank += 'a';
            }
        }
        return wanted.size() == parts.size();
    }

    std::vector<std::string> patterns_;
};

inline std::string random_segment(sequence& numbers) {
    static constexpr std::string_view segments[] = {"", "a", "b", "ab", "a%2Fb", "a-rather-long-segment", "a-rather-long-segmenu"};
    return std::string(segments[numbers.below(std::size(segments))]);
}

inline std::string random_path(sequence& numbers) {
    std::string path;
    for (unsigned left = 1 + numbers.below(6); left != 0; --left) path += "/" + random_segment(numbers);
    return path;
}

inline std::string random_pattern(sequence& numbers) {
    std::string pattern;
    const unsigned size = 1 + numbers.below(5);
    for (unsigned i = 0; i < size; ++i) {
        const unsigned kind = numbers.below(5);
        if (kind == 0 && i + 1 == size) {
            pattern += "/*rest";
        } else if (kind <= 1) {
            pattern += "/:p" + std::to_string(i);
        } else {
            pattern += "/" + random_segment(numbers);
        }
    }
    return pattern;
}

}  // namespace martlet::server::testing
