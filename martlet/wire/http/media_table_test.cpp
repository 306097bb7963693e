#include <martlet/wire/http/media_table.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/wire/http/media_type.hpp>

namespace martlet::http {
namespace {

std::string type_of(std::string_view path) {
    const content_type type = content_type_of_file(path);
    return std::string(type.id() == media::custom ? type.value() : text(type.id()));
}

TEST(media_table, by_extension) {
    constexpr std::string_view cases[][2] = {
        {"index.html", "text/html; charset=utf-8"},
        {"a.css", "text/css; charset=utf-8"},
        {"a.js", "text/javascript; charset=utf-8"},
        {"a.mjs", "text/javascript; charset=utf-8"},
        {"a.json", "application/json"},
        {"a.svg", "image/svg+xml"},
        {"a.png", "image/png"},
        {"a.JPG", "image/jpeg"},
        {"a.webp", "image/webp"},
        {"a.avif", "image/avif"},
        {"a.gif", "image/gif"},
        {"favicon.ico", "image/vnd.microsoft.icon"},
        {"a.txt", "text/plain; charset=utf-8"},
        {"a.md", "text/markdown; charset=utf-8"},
        {"a.xml", "application/xml"},
        {"a.pdf", "application/pdf"},
        {"a.wasm", "application/wasm"},
        {"a.woff2", "font/woff2"},
        {"a.mp4", "video/mp4"},
        {"a.webm", "video/webm"},
        {"a.mp3", "audio/mpeg"},
        {"a.zip", "application/zip"},
        {"a.tar.gz", "application/gzip"},
        {"a.csv", "text/csv; charset=utf-8"},
        {"a.zst", "application/zstd"},
        {"a.webmanifest", "application/manifest+json"},
        {"/d.html/a.Png", "image/png"},
    };
    for (const auto& [path, type] : cases) {
        EXPECT_EQ(type_of(path), type) << path;
        EXPECT_TRUE(media_type::parse(type)) << path;
    }
}

TEST(media_table, what_is_not_in_it_is_bytes) {
    for (const std::string_view path : {"", "/", "a", "a.", ".html", "/d/.html", "a.unknown", "a.html.", "d.html/a", "a.h\xc3\xa9",
                                        "a.htmlhtmlhtmlhtml", "a.aa", "a.zzz"}) {
        EXPECT_EQ(type_of(path), "application/octet-stream") << path;
    }
}

}  // namespace
}  // namespace martlet::http
