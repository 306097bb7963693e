#include <martlet/wire/http/accept.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace martlet::http {
namespace {

std::string best_type(std::optional<std::string_view> accept, std::vector<std::string_view> offered) {
    const auto place = best_type_of(accept, offered);
    return place ? std::string(offered[*place]) : "none";
}

std::string best_coding(std::optional<std::string_view> accept, std::vector<std::string_view> offered = {"br", "gzip", "identity"}) {
    const auto place = best_coding_of(accept, offered);
    return place ? std::string(offered[*place]) : "none";
}

TEST(weight, has_three_digits_at_most) {
    EXPECT_EQ(weight_of("1"), 1000);
    EXPECT_EQ(weight_of("1."), 1000);
    EXPECT_EQ(weight_of("1.000"), 1000);
    EXPECT_EQ(weight_of("0"), 0);
    EXPECT_EQ(weight_of("0.001"), 1);
    EXPECT_EQ(weight_of("0.25"), 250);
    for (const std::string_view text : {"", "2", "1.001", "0.0001", ".5", "-1", "0,5", "0.5x", "1e0", "00"})
        EXPECT_EQ(weight_of(text), -1) << text;
}

// RFC 9110 section 12.5.1.
TEST(accept, the_examples_of_the_rfc) {
    EXPECT_EQ(best_type("audio/*; q=0.2, audio/basic", {"audio/mpeg", "audio/basic"}), "audio/basic");
    const std::string_view four = "text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c";
    EXPECT_EQ(best_type(four, {"text/plain", "text/x-dvi"}), "text/x-dvi");
    EXPECT_EQ(best_type(four, {"text/plain", "text/x-c", "text/html"}), "text/x-c");
    const std::string_view special = "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5";
    const std::vector<std::string_view> down = {"text/plain;format=flowed", "text/plain", "image/jpeg", "text/plain;format=fixed",
                                                "text/html"};
    for (std::size_t i = 0; i < down.size(); ++i) {
        std::vector<std::string_view> rest(down.rbegin(), down.rend() - static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(best_type(special, rest), down[i]);
    }
    EXPECT_EQ(best_type("text/html;level=3;q=0.7, text/*;q=0.3", {"text/html;level=3"}), "text/html;level=3");
}

TEST(accept, chooses_among_what_is_offered) {
    const auto chosen = [](std::optional<std::string_view> accept) {
        return best_of(accept, "application/problem+json", "text/html", "text/plain");
    };
    EXPECT_EQ(chosen(std::nullopt), 0u);
    EXPECT_EQ(chosen(""), 0u);
    EXPECT_EQ(chosen("*/*"), 0u);
    EXPECT_EQ(chosen("text/*"), 1u);
    EXPECT_EQ(chosen("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), 1u);
    EXPECT_EQ(chosen("TEXT/PLAIN"), 2u);
    EXPECT_EQ(chosen("image/png"), std::nullopt);
    EXPECT_EQ(chosen("text/html;q=0, text/plain"), 2u);
    EXPECT_EQ(chosen("*/*, application/problem+json;q=0, text/html;q=0"), 2u);
    EXPECT_EQ(chosen("nonsense, text/plain"), 2u);
    EXPECT_EQ(chosen("text/html;q=5, text/plain;q=0.1"), 2u) << "a weight that is none";
    EXPECT_EQ(chosen("text/html;level=9"), std::nullopt);
}

// RFC 9110 section 12.5.3.
TEST(accept_encoding, by_the_rules_of_the_rfc) {
    EXPECT_EQ(best_coding(std::nullopt), "identity");
    EXPECT_EQ(best_coding(""), "identity");
    EXPECT_EQ(best_coding("compress, gzip"), "gzip");
    EXPECT_EQ(best_coding("gzip, deflate, br"), "br");
    EXPECT_EQ(best_coding("*"), "br");
    EXPECT_EQ(best_coding("compress;q=0.5, gzip;q=1.0"), "gzip");
    EXPECT_EQ(best_coding("gzip;q=1.0, identity; q=0.5, *;q=0"), "gzip");
    EXPECT_EQ(best_coding("gzip;q=1.0, identity; q=0.5, *;q=0", {"br", "identity"}), "identity");
    EXPECT_EQ(best_coding("gzip;q=0.5, identity"), "identity");
    EXPECT_EQ(best_coding("br;q=0.001"), "br");
    EXPECT_EQ(best_coding("identity;q=0"), "none");
    EXPECT_EQ(best_coding("*;q=0"), "none");
    EXPECT_EQ(best_coding("*;q=0, identity"), "identity");
    EXPECT_EQ(best_coding("gzip;q=0, *"), "br");
    EXPECT_EQ(best_coding("gzip;q=0"), "identity");
    EXPECT_EQ(best_coding("X-GZip"), "gzip");
    EXPECT_EQ(best_coding("gzip;q=x"), "identity");
}

}  // namespace
}  // namespace martlet::http
