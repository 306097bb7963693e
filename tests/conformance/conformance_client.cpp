// What answers a corpus of HTTP/1.1 responses is given to: a client of the library's codecs on its runtime, which a scripted peer asks by
// lines on standard input to make one exchange each, and which tells what it made of the answer. See usage() for the words.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/outq.hpp>
#include <martlet/net/connect.hpp>
#include <martlet/net/error.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/wire/http1/content.hpp>
#include <martlet/wire/http1/request_encoder.hpp>
#include <martlet/wire/http1/response_parser.hpp>

using namespace martlet;
using namespace martlet::http1;

namespace {

constexpr std::string_view help =
    "usage: conformance-client --port N\n"
    "\n"
    "Makes one exchange with 127.0.0.1:N for each line of standard input, and tells what became of it in one line, with tabs between.\n"
    "A line has words with spaces between: NAME METHOD TARGET HOST, then any of\n"
    "  first=N step=N   the first bytes of the answer that are looked at, and how many are read at a time from then on; 16384\n"
    "  within=MS        how long the whole exchange may take; 15000\n"
    "  content_max=N    the most content that is taken; 1048576\n"
    "  length=N         sends N bytes of content with Content-Length\n"
    "  chunked=N        sends N bytes of content in chunks\n"
    "  field=NAME:VALUE sends a field; may come several times\n"
    "  upgrade=NAME     asks for an upgrade\n"
    "  expect           waits for 100 (Continue) before the content\n"
    "  close trailers   says Connection: close; says TE: trailers\n"
    "  warm             makes an exchange before, on the same connection: GET /warm\n"
    "In a word \\xHH is a byte. An answer is NAME, the verdict (ok:STATUS:CONTENT:reuse, noreuse or tunnel; error; refused), then\n"
    "code=, text= of an error; consumed=, left= of the bytes received; second= what became of GET /second on the same connection.\n";

/// Bytes that would end a line or a word are written as \xHH, and so are those beyond ASCII.
std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        if (c >= ' ' && c < 0x7f && c != '\\') {
            text += c;
            continue;
        }
        constexpr char digits[] = "0123456789abcdef";
        const auto value = static_cast<unsigned char>(c);
        text += {'\\', 'x', digits[value >> 4], digits[value & 15]};
    }
    return text;
}

std::string unescaped(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned value = 0;
        const char* const digits = text.data() + at + 2;
        if (text.substr(at, 2) == "\\x" && at + 4 <= text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
            bytes += static_cast<char>(value);
            at += 3;
        } else {
            bytes += text[at];
        }
    }
    return bytes;
}

bool parse_number(std::string_view text, std::uint64_t& number) {
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), number);
    return why == std::errc() && end == text.data() + text.size();
}

/// One line of standard input.
class ask {
public:
    /// Null when a word is not understood; `problem` says which.
    static std::unique_ptr<ask> parse(std::string_view line, std::string& problem) {
        auto made = std::make_unique<ask>();
        std::vector<std::string> parts;
        while (!line.empty()) {
            const std::size_t space = line.find(' ');
            const std::string_view word = line.substr(0, space);
            line.remove_prefix(space == line.npos ? line.size() : space + 1);
            if (parts.size() < 4) {
                parts.push_back(unescaped(word));
            } else if (!made->take(word)) {
                problem = "there is no word '" + std::string(word) + "'";
                return nullptr;
            }
        }
        if (parts.size() < 4) {
            problem = "a line begins with a name, a method, a target and a host";
            return nullptr;
        }
        made->name = parts[0];
        made->method = parts[1];
        made->target = parts[2];
        made->host = parts[3];
        return made;
    }

    std::string name, method, target, host, upgrade;
    std::vector<std::string> fields;
    std::uint64_t first = 16384;
    std::uint64_t step = 16384;
    std::uint64_t within_ms = 15000;
    std::uint64_t content_max = 1 << 20;
    std::uint64_t content_bytes = 0;
    body_framing content;
    bool expect = false, close = false, trailers = false, warm = false;

private:
    bool take(std::string_view word) {
        if (word == "expect") return expect = true;
        if (word == "close") return close = true;
        if (word == "trailers") return trailers = true;
        if (word == "warm") return warm = true;
        const std::size_t equals = word.find('=');
        if (equals == word.npos) return false;
        const std::string_view name_of = word.substr(0, equals);
        const std::string_view value = word.substr(equals + 1);
        if (name_of == "upgrade") {
            upgrade = unescaped(value);
            return true;
        }
        if (name_of == "field") {
            fields.push_back(unescaped(value));
            return value.find(':') != value.npos;
        }
        std::uint64_t number = 0;
        if (!parse_number(value, number) || number > 64 * 1024 * 1024) return false;
        if (name_of == "first" && number != 0) {
            first = number;
        } else if (name_of == "step" && number != 0 && number <= 16384) {
            step = number;
        } else if (name_of == "within") {
            within_ms = number;
        } else if (name_of == "content_max") {
            content_max = number;
        } else if (name_of == "length") {
            content = body_framing::length(content_bytes = number);
        } else if (name_of == "chunked") {
            content = body_framing::chunked();
            content_bytes = number;
        } else {
            return false;
        }
        return true;
    }
};

/// What became of an exchange.
class report {
public:
    report() noexcept {}

    static report of(error why) {
        report made;
        made.verdict = "error";
        made.detail =
            "\tcode=" + std::string(why.category().name()) + "/" + std::to_string(why.code()) + "\ttext=" + std::string(why.text());
        return made;
    }

    std::string verdict;
    std::string detail;
    bool reuse = false;
    bool tunnel = false;
};

/// A connection as a client keeps it, with what was read and belongs to no message yet.
class connection {
public:
    connection(std::unique_ptr<net::byte_stream> stream, const ask& how) : stream_(std::move(stream)), how_(how), in_(buffer_bytes_max) {}

    net::byte_stream& stream() noexcept { return *stream_; }
    std::string_view unread() const noexcept { return in_.view(); }
    std::uint64_t consumed() const noexcept { return consumed_; }
    void use(std::size_t bytes) noexcept {
        in_.consume(bytes);
        consumed_ += bytes;
    }
    /// From here on counts what the next exchange reads and uses.
    void begin_exchange() noexcept { read_ = consumed_ = 0; }

    /// How many bytes came; 0 at the end of what the peer sends.
    task<result<std::size_t>> read_more() {
        const std::uint64_t wanted = read_ < how_.first ? how_.first - read_ : how_.step;
        buffer piece = buffer::over(storage_, std::min<std::uint64_t>(wanted, read_bytes_max) + padding_bytes);
        auto got = co_await net::read(*stream_, piece);
        if (!got) co_return got;
        read_ += *got;
        if (!in_.append(piece.view())) co_return failure(net::make_error(net::net_error::buffer_full));
        co_return got;
    }

    /// Nothing came behind the last answer, and the peer has not closed: the connection may carry another request.
    const char* try_why_not_reusable() noexcept {
        if (!in_.empty()) return "surplus";
        buffer piece = buffer::over(storage_, read_bytes_max + padding_bytes);
        switch (stream_->try_read(piece)) {
        case net::io::blocked: return nullptr;
        case net::io::moved: return "surplus";
        case net::io::ended:
        case net::io::failed: break;
        }
        return "closed";
    }

private:
    static constexpr std::size_t read_bytes_max = 16384;
    static constexpr std::size_t buffer_bytes_max = head_bytes_cap + 2 * read_bytes_max;

    std::unique_ptr<net::byte_stream> stream_;
    const ask& how_;
    buffer in_;
    std::uint64_t read_ = 0;
    std::uint64_t consumed_ = 0;
    char storage_[read_bytes_max + padding_bytes] = {};
};

/// The head of a request in wire form, or why there can be none.
result<std::string> encoded_head(const ask& what) {
    const auto start = request_start::make(what.method, what.target, what.host);
    if (!start) return failure(start.error());
    auto options = request_options().content(what.content).expect_continue(what.expect).close(what.close).take_trailers(what.trailers);
    if (!what.upgrade.empty()) {
        const auto protocol = http::field_value::make(what.upgrade);
        if (!protocol) return failure(protocol.error());
        options.upgrade(*protocol);
    }
    std::string extra;
    for (const std::string& field : what.fields) {
        const std::size_t colon = field.find(':');
        const auto name = http::token::make(std::string_view(field).substr(0, colon));
        const auto value = http::field_value::make(std::string_view(field).substr(colon + 1));
        if (!name) return failure(name.error());
        if (!value) return failure(value.error());
        std::string line(encoded_field_bytes(*name, *value), '\0');
        if (try_encode_request_field(line.data(), *name, *value) == nullptr) {
            return failure(error(http1::category, static_cast<int>(errc::repeated_field), blame::local));
        }
        extra += line;
    }
    std::string head(request_head_bytes_max(*start, options, extra), '\0');
    char* const end = try_encode_request_head(head.data(), *start, options, extra);
    if (end == nullptr) return failure(error(http1::category, static_cast<int>(errc::target_form), blame::local));
    head.resize(static_cast<std::size_t>(end - head.data()));
    return head;
}

std::string encoded_content(const ask& what) {
    constexpr std::size_t chunk_bytes = 1000;
    const std::string content(what.content_bytes, 'x');
    if (!what.content.is_chunked()) return content;
    std::string wire;
    for (std::size_t at = 0; at < content.size(); at += chunk_bytes) {
        const std::string_view piece = std::string_view(content).substr(at, chunk_bytes);
        char line[chunk_head_bytes_max];
        wire.append(line, encode_chunk_head(line, piece.size()));
        wire += piece;
        wire += chunk_end;
    }
    return wire += last_chunk;
}

/// Reads the content that `framing` announces behind a head, and tells all of the answer.
task<report> receive_content(connection& on, const ask& what, int status, body_framing framing, bool keep_alive) {
    const content_limits limits;
    content_decoder decoder(framing, limits, what.content_max);
    std::string content;
    content_state state = decoder.state();
    while (state == content_state::more) {
        const content_step step = decoder.feed(on.unread());
        content += step.content;
        on.use(step.consumed);
        state = step.state;
        if (state != content_state::more || !on.unread().empty()) continue;
        auto more = co_await on.read_more();
        if (!more) co_return report::of(more.error());
        if (*more == 0) state = decoder.end_of_input();
    }
    if (state == content_state::failed) co_return report::of(make_response_error(decoder.code()));
    report told;
    told.reuse = keep_alive;
    told.verdict = "ok:" + std::to_string(status) + ":" + escaped(content) + (keep_alive ? ":reuse" : ":noreuse");
    co_return told;
}

/// Writes until all is written or an answer comes, which ends a request that is not written whole (RFC 9112 section 9.5). Whether it is.
task<bool> send_until_answered(connection& on, std::string_view bytes) {
    outq queue(on.stream().owner().blocks());
    if (!queue.append_copy(bytes)) co_return false;
    auto decided = co_await first(net::write(on.stream(), queue), net::wait_readable(on.stream()));
    static_cast<void>(decided);
    co_return queue.size() == 0;
}

/// Sends a request and receives its answer.
task<report> exchange(connection& on, const ask& what, std::string head_text) {
    on.begin_exchange();
    std::string content = encoded_content(what);
    const bool waits = what.expect && !what.content.is_empty();
    if (!waits) head_text += content;
    const bool sent = co_await send_until_answered(on, head_text);
    bool content_is_owed = !sent || waits;

    const head_limits limits;
    const auto context = response_context(http::method_of(what.method)).asks_upgrade(!what.upgrade.empty());
    field_record records[128];
    response_head head(records, 128);
    response_resume resume;
    for (;;) {
        const parse_status status = parse_response(on.unread(), limits, context, head, resume);
        if (status.is_failed()) co_return report::of(make_response_error(status.code()));
        if (status.needs_more()) {
            auto more = co_await on.read_more();
            if (!more) co_return report::of(more.error());
            if (*more == 0) co_return report::of(net::make_error(net::net_error::ended_early));
            continue;
        }
        const int code = head.status();
        const body_framing framing = head.framing();
        const bool keep_alive = head.keep_alive() && !content_is_owed && !what.close;
        const bool is_interim = head.is_interim();
        const bool is_tunnel = head.is_tunnel();
        on.use(status.consumed());
        if (is_tunnel) {
            report told;
            told.verdict = "ok:" + std::to_string(code) + "::tunnel";
            told.tunnel = true;
            co_return told;
        }
        if (!is_interim) {
            report told = co_await receive_content(on, what, code, framing, keep_alive);
            co_return told;
        }
        if (code == 100 && waits && content_is_owed) {
            const bool all = co_await send_until_answered(on, content);
            content_is_owed = !all;
        }
    }
}

/// GET `target` on a connection that was used before.
task<report> plain_exchange(connection& on, const char* target) {
    ask what;
    what.method = "GET";
    what.target = target;
    what.host = "t.example";
    auto head = encoded_head(what);
    report told = co_await exchange(on, what, head.value());
    co_return told;
}

/// All of one line. The connection is closed when it returns.
task<report> run_ask(const net::address& peer, const ask& what, std::string head) {
    auto stream = co_await net::connect(peer);
    if (!stream) co_return report::of(stream.error());
    auto on = std::make_unique<connection>(std::move(*stream), what);
    if (what.warm) {
        report before = co_await plain_exchange(*on, "/warm");
        if (!before.reuse) co_return before;
    }
    report told = co_await exchange(*on, what, std::move(head));
    told.detail += "\tconsumed=" + std::to_string(on->consumed()) + "\tleft=" + escaped(on->unread());
    if (told.tunnel) {
        auto sent = co_await net::write(on->stream(), std::string_view("ping"));
        told.detail += sent ? "\tsecond=sent" : "\tsecond=closed";
    }
    if (!told.reuse) co_return told;
    if (const char* const why = on->try_why_not_reusable(); why != nullptr) {
        told.detail += "\tsecond=" + std::string(why);
        co_return told;
    }
    report second = co_await plain_exchange(*on, "/second");
    told.detail += "\tsecond=" + second.verdict;
    co_return told;
}

int fail(const std::string& problem) {
    std::fprintf(stderr, "conformance-client: %s\n%s", problem.c_str(), std::string(help).c_str());
    return 2;
}

int answer_lines(const net::address& peer) {
    loop on;
    std::size_t lines = 0;
    for (std::string line; std::getline(std::cin, line);) {
        ++lines;
        std::string problem;
        const std::unique_ptr<ask> what = ask::parse(line, problem);
        if (what == nullptr) return fail("line " + std::to_string(lines) + ": " + problem);
        report told;
        if (auto head = encoded_head(*what); !head) {
            told = report::of(head.error());
            told.verdict = "refused";
        } else {
            told = on.run([&]() -> task<report> {
                auto ended = co_await within(std::chrono::milliseconds(what->within_ms), run_ask(peer, *what, std::move(*head)));
                co_return ended;
            }());
        }
        std::printf("%s\t%s%s\n", escaped(what->name).c_str(), told.verdict.c_str(), told.detail.c_str());
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int count, char** values) {
    std::uint64_t port = 0;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = values[i];
        if (word == "--help") {
            std::fputs(std::string(help).c_str(), stdout);
            return 0;
        }
        if (word != "--port" || i + 1 == count) return fail("there is no option '" + std::string(word) + "' as it stands here");
        if (!parse_number(values[++i], port) || port == 0 || port > 65535) return fail("--port takes a number from 1 to 65535");
    }
    if (port == 0) return fail("--port is needed");
    try {
        return answer_lines(net::address::ipv4_loopback(static_cast<std::uint16_t>(port)));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "conformance-client: %s\n", e.what());
        return 1;
    }
}
