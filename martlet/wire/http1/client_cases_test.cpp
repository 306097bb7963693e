// The cases of tests/vectors/http1/client-cases.jsonl at the level of the codec: whole, at every split and byte by byte. What is not the
// strict answer stands in the table below with its reason.
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

// In the words of the case file.
std::string verdict(std::string_view bytes, std::size_t first, std::size_t step, const martlet::testing::fields& each) {
    const auto method = http::method_of(each.at("method"));
    std::string text = testing::response_verdict(bytes, first, step, response_context(method), each.at("eof") == "true");
    if (text.starts_with("error")) return "error";
    if (!text.starts_with("ok ")) return text;
    const std::size_t open = text.find('[');
    const std::size_t close = text.rfind(']');
    return "ok:" + text.substr(3, open - 4) + ":" + text.substr(open + 1, close - open - 1) + ":" + text.substr(close + 2);
}

TEST(client_cases, every_verdict_is_strict_or_allowed) {
    const std::vector<martlet::testing::fields> cases = martlet::testing::read_cases("http1/client-cases.jsonl");
    ASSERT_FALSE(cases.empty()) << "tests/vectors/http1/client-cases.jsonl is not above the working directory";
    std::size_t strict = 0;
    std::size_t allowed = 0;
    std::size_t above = 0;
    for (const martlet::testing::fields& each : cases) {
        const std::string& id = each.at("id");
        const std::string bytes = martlet::testing::expanded(each.at("response"));
        const std::string whole = verdict(bytes, bytes.size(), 1, each);
        if (bytes.size() < 200'000) {
            EXPECT_EQ(verdict(bytes, 1, 1, each), whole) << id;
        }
        const std::size_t stride = bytes.size() > 1000 ? bytes.size() / 31 : 1;
        for (std::size_t split = 1; split < bytes.size(); split += stride) {
            EXPECT_EQ(verdict(bytes, split, bytes.size(), each), whole) << id << " split at " << split;
        }
        if (each.at("class") == class_above) {
            EXPECT_EQ(whole, "ok:302::reuse") << id;
            ++above;
        } else if (whole == each.at("expect")) {
            ++strict;
        } else {
            const permitted* known = nullptr;
            for (const permitted& other : allowed_here) {
                if (other.id == id && other.verdict == whole) known = &other;
            }
            const bool listed = each.contains("allowed") && ("\n" + each.at("allowed")).find("\n" + whole + "\n") != std::string::npos;
            EXPECT_TRUE(known != nullptr && listed) << id << " (" << each.at("note") << "): " << whole << ", not " << each.at("expect");
            if (known == nullptr) continue;
            std::printf("%s is %s: %s\n", id.c_str(), whole.c_str(), std::string(known->reason).c_str());
            ++allowed;
        }
    }
    std::printf("%zu cases: %zu strict, %zu allowed, %zu answered above the codec\n", cases.size(), strict, allowed, above);
    EXPECT_EQ(allowed, std::size(allowed_here));
    EXPECT_GE(cases.size(), 60u);
}

}  // namespace
}  // namespace martlet::http1
