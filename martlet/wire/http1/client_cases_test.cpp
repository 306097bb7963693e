// The cases of tests/vectors/http1/client-cases.jsonl and client-neighbours.jsonl at the level of the codec: whole, at every split and byte
// by byte. What is not the strict answer stands in the table below with its reason.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include <martlet/wire/http1/response_test_internal.hpp>
#include <tests/support/case_file.hpp>

namespace martlet::http1 {
namespace {

struct permitted {
    std::string_view id;
    std::string_view verdict;
    std::string_view reason;
};

// Allowed by the case file beside the strict answer.
constexpr permitted allowed_here[] = {
    {"RF-015", "error", "no coding but chunked is ever asked for, and content in an unknown one would be given out undecoded"},
    {"RC-015", "error", "a field that frames a message is refused in trailers, by clients as by servers"},
    {"RH-011", "ok:200::reuse", "Content-Encoding is for who decodes it; that limit is there"},
};

// Answered above the codec: here only the head is judged, and Location comes out as it was sent.
constexpr std::string_view class_above = "redirect";

/// What became of the bytes, in the words of the case file, and how many were used.
struct outcome {
    std::string verdict;
    std::size_t consumed = 0;
    bool operator==(const outcome&) const = default;
};

outcome outcome_of(std::string_view bytes, std::size_t first, std::size_t step, const martlet::testing::fields& each) {
    const auto context = response_context(http::method_of(each.at("method"))).asks_upgrade(each.contains("upgrade"));
    const std::string all = testing::response_verdict(bytes, first, step, context, each.at("eof") == "true", head_limits(), 1 << 20, true);
    if (all.starts_with("error")) return {"error", 0};
    // The content may have line ends; what follows the verdict has none.
    const std::size_t line = all.rfind('\n');
    const std::size_t open = all.find('[');
    const std::size_t close = all.rfind(']', line);
    const std::size_t consumed = std::stoul(all.substr(line + 1));
    if (!all.starts_with("ok ")) return {all.substr(0, line), consumed};
    return {"ok:" + all.substr(3, open - 4) + ":" + all.substr(open + 1, close - open - 1) + ":" + all.substr(close + 2, line - close - 2),
            consumed};
}

/// How the cases of a file went.
struct tally {
    std::size_t cases = 0;
    std::size_t strict = 0;
    std::size_t allowed = 0;
    std::size_t above = 0;
};

// However the bytes come, they are one answer.
outcome agreed_outcome(std::string_view bytes, const martlet::testing::fields& each) {
    outcome whole = outcome_of(bytes, bytes.size(), 1, each);
    const std::string& id = each.at("id");
    if (bytes.size() < 200'000) {
        EXPECT_EQ(outcome_of(bytes, 1, 1, each), whole) << id;
    }
    const std::size_t stride = bytes.size() > 200'000 ? bytes.size() / 5 : bytes.size() > 1000 ? bytes.size() / 31 : 1;
    for (std::size_t split = 1; split < bytes.size(); split += stride) {
        EXPECT_EQ(outcome_of(bytes, split, bytes.size(), each), whole) << id << " split at " << split;
    }
    return whole;
}

void judge(const martlet::testing::fields& each, tally& so_far) {
    const std::string& id = each.at("id");
    const std::string bytes = martlet::testing::expanded(each.at("response"));
    const outcome got = agreed_outcome(bytes, each);
    ++so_far.cases;
    if (got.verdict.ends_with(":reuse") || each.contains("left")) {
        const std::string left = each.contains("left") ? each.at("left") : "";
        EXPECT_EQ(bytes.substr(got.consumed), left) << id << " (" << each.at("note") << ")";
    }
    if (each.at("class") == class_above) {
        EXPECT_EQ(got.verdict, "ok:302::reuse") << id;
        ++so_far.above;
        return;
    }
    if (got.verdict == martlet::testing::expanded(each.at("expect"))) {
        ++so_far.strict;
        return;
    }
    const permitted* known = nullptr;
    for (const permitted& other : allowed_here) {
        if (other.id == id && other.verdict == got.verdict) known = &other;
    }
    const bool listed = each.contains("allowed") && ("\n" + each.at("allowed")).find("\n" + got.verdict + "\n") != std::string::npos;
    EXPECT_TRUE(known != nullptr && listed) << id << " (" << each.at("note") << "): " << got.verdict.substr(0, 200) << ", not "
                                            << each.at("expect");
    if (known == nullptr) return;
    std::printf("%s is %s: %s\n", id.c_str(), got.verdict.c_str(), std::string(known->reason).c_str());
    ++so_far.allowed;
}

tally judged(const std::string& file) {
    tally found;
    for (const martlet::testing::fields& each : martlet::testing::read_cases(file)) judge(each, found);
    std::printf("%s: %zu cases: %zu strict, %zu allowed, %zu answered above the codec\n", file.c_str(), found.cases, found.strict,
                found.allowed, found.above);
    return found;
}

// Without the file there is no case.
TEST(client_cases, every_verdict_is_strict_or_allowed) {
    const tally found = judged("http1/client-cases.jsonl");
    EXPECT_GE(found.cases, 60u) << "tests/vectors/http1/client-cases.jsonl is not above the working directory";
    EXPECT_EQ(found.allowed, std::size(allowed_here));
}

TEST(client_cases, every_verdict_on_a_neighbour_is_strict) {
    const tally found = judged("http1/client-neighbours.jsonl");
    EXPECT_GE(found.cases, 380u) << "tests/vectors/http1/client-neighbours.jsonl is not above the working directory";
    EXPECT_EQ(found.strict, found.cases);
}

}  // namespace
}  // namespace martlet::http1
