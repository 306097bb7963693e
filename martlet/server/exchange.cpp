#include <martlet/server/exchange.hpp>

namespace martlet::inline v0::server {

namespace {

std::string_view text_of(int code) noexcept {
    switch (static_cast<exchange_errc>(code)) {
    case exchange_errc::none: break;
    case exchange_errc::answered_already: return "the request was answered already";
    case exchange_errc::connection_gone: return "the connection has gone";
    case exchange_errc::no_memory: return "no memory for the answer";
    case exchange_errc::invalid_status: return "an answer's status is 200 to 599";
    case exchange_errc::invalid_field: return "this field must not be set, or has a byte that no field may hold";
    case exchange_errc::not_answered: return "the handler did not answer";
    case exchange_errc::not_upgradable: return "the peer did not ask to change to this protocol";
    case exchange_errc::content_too_slow: return "the request's content did not arrive in time";
    case exchange_errc::server_full: return "the server holds as much as it may";
    case exchange_errc::content_waited: return "the content is being read already";
    case exchange_errc::no_stream: return "only a coroutine handler, or one that answers later, can stream its answer, and once";
    case exchange_errc::content_unwanted: return "the request was for the head of the event stream only";
    case exchange_errc::stream_ended: return "the stream has ended already";
    case exchange_errc::content_too_long: return "more content than its head announced";
    case exchange_errc::content_too_short: return "less content than its head announced";
    case exchange_errc::invalid_redirect: return "a redirect has a status of 301, 302, 303, 307 or 308, and a location";
    case exchange_errc::no_such_param: return "the route's pattern has no parameter of this name";
    case exchange_errc::no_local: return "a factory of what each loop has failed";
    case exchange_errc::no_such_local: return "the router was given no local of this type, or the loop may be handed over";
    }
    return "unknown";
}

}  // namespace

constinit const error_category exchange_category("exchange", text_of);

error make_error(exchange_errc code) noexcept {
    if (code == exchange_errc::not_upgradable) return error(exchange_category, static_cast<int>(code), blame::peer, 400);
    if (code == exchange_errc::content_too_slow) return error(exchange_category, static_cast<int>(code), blame::peer, 408);
    const bool gone = code == exchange_errc::connection_gone || code == exchange_errc::content_unwanted;
    const bool memory = code == exchange_errc::no_memory || code == exchange_errc::server_full;
    return error(exchange_category, static_cast<int>(code),
                 gone     ? blame::peer
                 : memory ? blame::system
                          : blame::local,
                 memory ? 503 : 500, memory);
}

result<http::field_value> checked_field(std::string_view name, std::string_view value) noexcept {
    const auto checked = http::field_value::make(value);
    const http::field_id id = http::field_id_of(name);
    const bool own =
        http::is_framing(id) || id == http::field_id::content_type || id == http::field_id::date || id == http::field_id::server;
    if (!checked || own || !http::token::is_valid(name)) return failure(make_error(exchange_errc::invalid_field));
    return *checked;
}

}  // namespace martlet::inline v0::server
