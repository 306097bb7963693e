#include <martlet/base/log.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace martlet {
namespace {

class collecting_sink final : public log::sink {
public:
    collecting_sink() : before_(log::set_sink(this)) {}
    ~collecting_sink() {
        log::set_sink(before_);
        log::set_level(log::level::info);
    }
    void write(const log::record& what) noexcept override {
        char line[400];
        lines.emplace_back(line, log::format_line(what, line));
    }
    std::vector<std::string> lines;

private:
    log::sink* before_;
};

TEST(log, without_a_sink_nothing_is_enabled) {
    log::sink* before = log::set_sink(nullptr);
    EXPECT_FALSE(log::enabled(log::level::error));
    log::error("nobody hears");
    log::set_sink(before);
}

TEST(log, a_record_reaches_the_sink_with_its_fields) {
    collecting_sink sink;
    log::info("started", log::field("address", "127.0.0.1:8080"), log::field("threads", 4), log::field("big", ~std::uint64_t{0}),
              log::field("least", std::numeric_limits<std::int64_t>::min()), log::field("share", 0.5), log::field("on", true),
              log::field("off", false));
    log::warn("plain");
    log::error("bad");
    ASSERT_EQ(sink.lines.size(), 3u);
    EXPECT_EQ(sink.lines[0],
              "level=info msg=\"started\" address=127.0.0.1:8080 threads=4 big=18446744073709551615 least=-9223372036854775808 share=0.5 "
              "on=true off=false");
    EXPECT_EQ(sink.lines[1], "level=warn msg=\"plain\"");
    EXPECT_EQ(sink.lines[2], "level=error msg=\"bad\"");
}

TEST(log, levels_below_the_lowest_are_dropped) {
    collecting_sink sink;
    log::debug("unseen");
    EXPECT_TRUE(sink.lines.empty());
    EXPECT_FALSE(log::enabled(log::level::debug));
    log::set_level(log::level::debug);
    log::debug("seen");
    log::set_level(log::level::error);
    log::warn("unseen");
    log::set_level(log::level::off);
    log::error("unseen");
    EXPECT_FALSE(log::enabled(log::level::off));
    ASSERT_EQ(sink.lines.size(), 1u);
    EXPECT_EQ(sink.lines[0], "level=debug msg=\"seen\"");
}

TEST(log, data_cannot_forge_a_line) {
    collecting_sink sink;
    log::info("a\nlevel=error msg=\"b\"", log::field("x y=", "1\r\n\"\\\x01\x7f"), log::field("", ""), log::field("utf8", "\xc3\xa4"));
    ASSERT_EQ(sink.lines.size(), 1u);
    EXPECT_EQ(sink.lines[0], "level=info msg=\"a\\nlevel=error msg=\\\"b\\\"\" x_y_=\"1\\r\\n\\\"\\\\\\x01\\x7f\" _=\"\" utf8=\xc3\xa4");
}

TEST(log, a_long_line_is_cut_at_every_length) {
    const log::field fields[] = {log::field("name", "va\nlue"), log::field("n", 123456)};
    const log::record what(log::level::info, "message", fields);
    char whole[200];
    const std::string all(whole, log::format_line(what, whole));
    for (std::size_t n = 0; n <= all.size() + 3; ++n) {
        std::vector<char> out(n);
        const std::string line(out.data(), log::format_line(what, out));
        ASSERT_LE(line.size(), n);
        if (n == all.size() + 3) {
            EXPECT_EQ(line, all);
        } else if (n >= 3) {
            ASSERT_TRUE(line.ends_with("...")) << line;
            const std::string kept = line.substr(0, line.size() - 3);
            EXPECT_TRUE(all.starts_with(kept)) << line;
            EXPECT_FALSE(kept.ends_with("\\")) << "an escape was cut in two";
        }
    }
}

TEST(log, names_of_levels) {
    EXPECT_EQ(log::name_of(log::level::debug), "debug");
    EXPECT_EQ(log::name_of(log::level::off), "off");
}

}  // namespace
}  // namespace martlet
