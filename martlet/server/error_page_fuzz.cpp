// Any Accept and any detail make a page that is whole, and that holds nothing of the detail that its form would take for its own.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/assert.hpp>
#include <martlet/server/error_page.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace martlet;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::string_view accept = all.substr(0, all.find('\n'));
    const std::string_view detail = all.substr(accept.size() == all.size() ? accept.size() : accept.size() + 1);
    const server::error_page page(400, detail, accept);
    const std::string_view content = page.content();
    if (page.type().id() == http::media::custom) {
        MARTLET_ASSERT(content.starts_with("{\"type\"") && content.ends_with("}"), "a page in JSON is one object");
        bool escaped = false;
        std::size_t quotes = 0;
        for (const char c : content) {
            MARTLET_ASSERT(static_cast<unsigned char>(c) >= 0x20, "no control byte stands in JSON");
            quotes += c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
        }
        MARTLET_ASSERT(quotes == (detail.empty() ? 10u : 14u), "the detail ends no string");
    } else if (page.type().id() == http::media::html) {
        MARTLET_ASSERT(content.ends_with("</html>\n"), "a page in HTML is whole");
        std::size_t tags = 0;
        for (const char c : content) tags += c == '<';
        MARTLET_ASSERT(tags == (detail.empty() ? 8u : 10u), "the detail begins no tag");
    }
    return 0;
}
