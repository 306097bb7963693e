#include <martlet/wire/http1/error.hpp>

namespace martlet::inline v0::http1 {

namespace {

struct entry {
    std::uint16_t status;
    std::string_view text;
};

constexpr entry entries[] = {
    {400, "no error"},
    {400, "the request line is not method, target and version with one space between"},
    {400, "too many empty lines before the request line"},
    {400, "a line with a control byte, or one that does not end in CRLF"},
    {400, "the method is not a token"},
    {501, "the method is longer than any that could be known"},
    {400, "the request target is malformed"},
    {400, "the method does not take this form of request target"},
    {414, "the request line is too long"},
    {400, "the version is malformed"},
    {505, "the HTTP version is not supported"},
    {400, "a field line without a token directly before its colon"},
    {400, "a line that begins with whitespace"},
    {431, "a field line is too long"},
    {431, "too many field lines"},
    {431, "the head is too large"},
    {400, "a field that may come once was repeated"},
    {400, "the Host field is missing"},
    {400, "the Host field is malformed"},
    {400, "Host and the request target name different authorities"},
    {421, "the scheme of the target is not that of the connection"},
    {400, "the Content-Length field is malformed"},
    {400, "Content-Length and Transfer-Encoding together"},
    {400, "Transfer-Encoding in HTTP/1.0"},
    {400, "the Transfer-Encoding field is malformed, or chunked is not last"},
    {501, "the transfer coding is not supported"},
    {417, "the expectation is not supported"},
    {400, "the size of a chunk is malformed"},
    {400, "a chunk extension is malformed"},
    {400, "a chunk or its size line does not end in CRLF"},
    {400, "the chunk extensions are too large"},
    {400, "the chunks are too small for what their framing takes"},
    {413, "the content is too large"},
    {431, "the trailer section is too large"},
    {400, "a field that may not be a trailer"},
    {400, "the connection ended before the content did"},
    {503, "out of memory"},
};

const entry& entry_of(int code) noexcept {
    constexpr int count = static_cast<int>(sizeof(entries) / sizeof(entries[0]));
    return entries[code >= 0 && code < count ? code : 0];
}

static_assert(sizeof(entries) / sizeof(entries[0]) == static_cast<std::size_t>(errc::out_of_memory) + 1);

std::string_view text_of(int code) noexcept { return entry_of(code).text; }

}  // namespace

const error_category category("http1", &text_of);

error make_error(errc code) noexcept {
    const int number = static_cast<int>(code);
    return {category, number, code == errc::out_of_memory ? blame::system : blame::peer, entry_of(number).status};
}

}  // namespace martlet::inline v0::http1
