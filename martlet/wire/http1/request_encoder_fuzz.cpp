// What a client may write is read back by the request parser as what it was, whatever text it is made of.
#include <cstdlib>
#include <string>
#include <vector>

#include <martlet/wire/http1/parser_test_internal.hpp>
#include <martlet/wire/http1/request_encoder.hpp>

namespace {

using namespace martlet;
using namespace martlet::http1;

void require(bool holds) {
    if (!holds) std::abort();
}

// The next part of `text` up to a '|', which no part of a request line has but a query.
std::string_view next_part(std::string_view& text) {
    const std::size_t bar = text.find('|');
    const std::string_view part = text.substr(0, bar);
    text.remove_prefix(bar == text.npos ? text.size() : bar + 1);
    return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2 || size > 4096) return 0;
    std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::string_view method = next_part(text);
    const std::string_view target = next_part(text);
    const auto start = request_start::make(method, target, next_part(text));
    if (!start) {
        require(!start.error().is_peer());
        return 0;
    }
    auto options = request_options().close((data[0] & 1) != 0).expect_continue((data[0] & 2) != 0).take_trailers((data[0] & 4) != 0);
    if ((data[0] & 8) != 0) options.content(body_framing::length(data[1]));
    if ((data[0] & 16) != 0) options.content(body_framing::chunked());
    if ((data[0] & 32) != 0) options.upgrade(http::field_value::literal("websocket"));

    std::string extra;
    const std::string_view name = next_part(text);
    const auto own = http::token::make(name);
    const auto value = http::field_value::make(text);
    if (own && value) {
        std::vector<char> line(encoded_field_bytes(*own, *value));
        if (char* const end = try_encode_request_field(line.data(), *own, *value)) extra.assign(line.data(), end);
    }

    std::vector<char> room(request_head_bytes_max(*start, options, extra));
    char* const end = try_encode_request_head(room.data(), *start, options, extra);
    if (end == nullptr) return 0;
    const std::string_view head(room.data(), end);
    const bool encrypted =
        !target.empty() && (target[0] == 'h' || target[0] == 'H') && target.size() > 5 && target[4] != ':' && target[5] == ':';
    testing::delivery in(head, head_limits().encrypted(encrypted));
    const parse_status status = in.give(head.size(), parser_kind::avx2);
    // The one thing that a caller's field can still do is to come once too often.
    if (status.is_failed() && status.code() == errc::repeated_field) return 0;
    require(status.is_complete() && status.consumed() == head.size());
    require(in.head().method_text() == method && in.head().target() == target);
    require(in.head().field(http::field_id::host) == start->host());
    const bool said = !options.content().is_none();
    if (said) require(in.head().framing() == options.content());
    if (!said) require(in.head().framing().is_empty());
    require(in.head().keep_alive() != options.close());
    require(in.head().wants_upgrade_to("websocket") == !options.protocol().text().empty());
    require(in.head().expects_continue() == (options.expect_continue() && !options.content().is_empty()));
    return 0;
}
