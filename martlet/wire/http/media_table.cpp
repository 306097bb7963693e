#include <martlet/wire/http/media_table.hpp>

#include <algorithm>
#include <iterator>

#include <martlet/base/scan.hpp>

namespace martlet::inline v0::http {

namespace {

class row {
public:
    consteval row(std::string_view extension, media id) : extension_(extension), type_(id) {}
    consteval row(std::string_view extension, std::string_view type) : extension_(extension), type_(field_value::literal(type)) {}
    constexpr std::string_view extension() const noexcept { return extension_; }
    constexpr content_type type() const noexcept { return type_; }

private:
    std::string_view extension_;
    content_type type_;
};

constexpr std::size_t extension_bytes_max = 12;

// In the order of the extensions.
constexpr row rows[] = {
    {"aac", "audio/aac"},
    {"apng", "image/apng"},
    {"avif", "image/avif"},
    {"bin", media::bytes},
    {"bmp", "image/bmp"},
    {"br", "application/x-brotli"},
    {"bz2", "application/x-bzip2"},
    {"css", media::css},
    {"csv", "text/csv; charset=utf-8"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eot", "application/vnd.ms-fontobject"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", media::html},
    {"html", media::html},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar; charset=utf-8"},
    {"jpeg", media::jpeg},
    {"jpg", media::jpeg},
    {"js", media::javascript},
    {"json", media::json},
    {"jsonld", "application/ld+json"},
    {"jxl", "image/jxl"},
    {"m3u8", "application/vnd.apple.mpegurl"},
    {"m4a", "audio/mp4"},
    {"map", media::json},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", media::javascript},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"mpd", "application/dash+xml"},
    {"oga", "audio/ogg"},
    {"ogg", "audio/ogg"},
    {"ogv", "video/ogg"},
    {"opus", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", media::png},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"rss", "application/rss+xml"},
    {"rtf", "application/rtf"},
    {"svg", media::svg},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"ts", "video/mp2t"},
    {"tsv", "text/tab-separated-values; charset=utf-8"},
    {"ttf", "font/ttf"},
    {"txt", media::text},
    {"vtt", "text/vtt; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"weba", "audio/webm"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", media::webp},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", media::xml},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

consteval bool is_in_order() {
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        if (rows[i].extension().size() > extension_bytes_max) return false;
        if (i > 0 && rows[i - 1].extension() >= rows[i].extension()) return false;
    }
    return true;
}
static_assert(is_in_order());

}  // namespace

content_type content_type_of_extension(std::string_view extension) noexcept {
    if (extension.size() > extension_bytes_max) return media::bytes;
    char lower[extension_bytes_max];
    std::transform(extension.begin(), extension.end(), lower, scan::lower);
    const std::string_view wanted(lower, extension.size());
    const row* const found = std::lower_bound(std::begin(rows), std::end(rows), wanted,
                                              [](const row& one, std::string_view text) { return one.extension() < text; });
    return found != std::end(rows) && found->extension() == wanted ? found->type() : content_type(media::bytes);
}

content_type content_type_of_file(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return media::bytes;
    return content_type_of_extension(name.substr(dot + 1));
}

}  // namespace martlet::inline v0::http
