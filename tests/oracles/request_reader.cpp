// What the library's codec makes of bytes on a connection, told for tests/oracles/differences: `request-reader` takes inputs, each behind
// its length in four bytes, little-endian, and answers each with a line of JSON. In its strings a code point is a byte.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/buffer.hpp>
#include <martlet/wire/http1/content.hpp>
#include <martlet/wire/http1/parser.hpp>

namespace {

using namespace martlet;
using namespace martlet::http1;

constexpr std::uint32_t input_bytes_max = 1 << 20;
constexpr std::uint16_t records_max = 200;

void add_text(std::string& out, std::string_view bytes) {
    out += '"';
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
            out += c;
        } else {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
            out += escape;
        }
    }
    out += '"';
}

void add_member(std::string& out, std::string_view name, std::string_view bytes) {
    add_text(out, name);
    out += ':';
    add_text(out, bytes);
    out += ',';
}

template <class Fields>
void add_fields(std::string& out, std::string_view name, const Fields& fields) {
    add_text(out, name);
    out += ":[";
    const char* separator = "";
    for (const field_view field : fields) {
        out += std::exchange(separator, ",");
        out += '[';
        add_text(out, field.name);
        out += ',';
        add_text(out, field.value);
        out += ']';
    }
    out += "],";
}

/// One connection's bytes, message after message.
class reading {
public:
    explicit reading(std::string_view input) : bytes_(input.size()) {
        if (!bytes_.append(input)) end_ = "no memory";
    }

    std::string told() {
        std::string out = "{\"messages\":[";
        while (end_.empty() && read_message(out)) {
        }
        out += "],\"at\":" + std::to_string(at_) + ",\"status\":" + std::to_string(status_) + ',';
        add_member(out, "why", why_);
        add_member(out, "in", in_content_ ? "content" : "head");
        out += "\"end\":";
        add_text(out, end_);
        return out + "}\n";
    }

private:
    bool stop(std::string_view end) {
        end_ = end;
        return false;
    }
    bool refuse(const error& why) {
        why_ = why.text();
        status_ = why.http_status();
        return stop("refused");
    }

    bool read_message(std::string& out) {
        if (at_ == bytes_.size()) return stop("done");
        field_record records[records_max];
        request_head head(records, records_max);
        resume_state resume;
        const padded_view rest = bytes_.padded().from(at_);
        const parse_status status = parse_request(rest, head_limits_, head, resume);
        if (status.is_failed()) return refuse(status.error());
        if (status.needs_more()) return stop(rest.view() == "\r\n" || rest.view() == "\r" ? "done" : "more");

        // What follows a CONNECT is no content (RFC 9110 section 9.3.6): a server refuses it and closes.
        const bool is_connect = head.method() == http::method::connect;
        in_content_ = true;
        std::size_t used = status.consumed();
        content_decoder decoder(is_connect ? body_framing::none() : head.framing(), content_limits_);
        std::string content;
        while (decoder.state() == content_state::more && used < rest.size()) {
            const content_step step = decoder.feed(rest.view().substr(used));
            content += step.content;
            used += step.consumed;
        }
        if (decoder.state() == content_state::failed) return refuse(decoder.error());
        if (decoder.state() == content_state::more) return stop("more");

        if (at_ != 0) out += ',';
        out += '{';
        add_member(out, "method", head.method_text());
        add_member(out, "target", head.target());
        add_member(out, "version", "1." + std::to_string(head.version_minor()));
        add_member(out, "body", content);
        add_fields(out, "fields", head);
        add_fields(out, "trailers", decoder.trailers());
        at_ += used;
        out += std::string("\"keep\":") + (head.keep_alive() ? "true" : "false") + ",\"at\":" + std::to_string(at_) + '}';
        in_content_ = false;
        if (is_connect) return stop("tunnel");
        return head.keep_alive() || stop("closed");
    }

    buffer bytes_;
    head_limits head_limits_;
    content_limits content_limits_;
    std::size_t at_ = 0;  // behind the last message
    bool in_content_ = false;
    std::string_view end_;
    std::string_view why_;
    int status_ = 0;
};

}  // namespace

int main() {
    std::puts("{\"name\":\"martlet\"}");
    std::string input;
    unsigned char size[4];
    while (std::fread(size, 1, sizeof size, stdin) == sizeof size) {
        const std::uint32_t bytes = size[0] | size[1] << 8 | size[2] << 16 | static_cast<std::uint32_t>(size[3]) << 24;
        if (bytes > input_bytes_max) return 1;
        input.resize(bytes);
        if (std::fread(input.data(), 1, bytes, stdin) != bytes) return 1;
        const std::string line = reading(input).told();
        std::fwrite(line.data(), 1, line.size(), stdout);
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
