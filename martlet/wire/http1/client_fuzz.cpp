// A client's whole way: two requests of the encoder on one connection, and any bytes as what answers them. How the bytes are split changes
// nothing; the requests are read back as what they were; and what is accepted is framed as a reader finds it that knows only RFC 9112
// section 6.3, takes everything for good and shares no code with the codec.
#include <cstdlib>
#include <vector>

#include <martlet/wire/http1/parser_test_internal.hpp>
#include <martlet/wire/http1/request_encoder.hpp>
#include <martlet/wire/http1/response_test_internal.hpp>

namespace {

using namespace martlet;
using namespace martlet::http1;

void require(bool holds) {
    if (!holds) std::abort();
}

constexpr std::uint64_t content_bytes_max = 200;

/// One request of a client, by a byte of the input.
class asked {
public:
    explicit asked(unsigned seed) noexcept : method(methods[seed % std::size(methods)]), upgrades((seed & 64) != 0 && method == "GET") {}

    response_context context() const noexcept { return response_context(http::method_of(method)).asks_upgrade(upgrades); }

    /// Encodes it, and reads it back strictly.
    void check_written(unsigned framing) const {
        const auto start = request_start::make(method, method == "CONNECT" ? "a.example:443" : "/a?b", "t.example");
        require(start.has_value());
        auto options = request_options().close((framing & 1) != 0).expect_continue((framing & 2) != 0);
        if (upgrades) options.upgrade(http::field_value::literal("foo"));
        if ((framing & 12) == 4) options.content(body_framing::length(framing));
        if ((framing & 12) == 8) options.content(body_framing::chunked());
        std::vector<char> room(request_head_bytes_max(*start, options, {}));
        const char* const end = try_encode_request_head(room.data(), *start, options, {});
        require((end == nullptr) == (method == "CONNECT" && !options.content().is_none()));
        if (end == nullptr) return;
        http1::testing::delivery in({room.data(), static_cast<std::size_t>(end - room.data())}, head_limits());
        const parse_status status = in.give(room.size(), parser_kind::scalar);
        require(status.is_complete() && status.consumed() == static_cast<std::size_t>(end - room.data()));
        require(in.head().method_text() == method && in.head().keep_alive() != options.close());
        require(in.head().wants_upgrade() == upgrades);
    }

    static constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "CONNECT", "GET"};
    std::string_view method;
    bool upgrades;
};

/// What the naive reader makes of an answer that was accepted.
struct reading {
    std::string content;
    std::size_t consumed = 0;
    bool reuse = true;
    bool tunnel = false;
};

/// Fields of a head by their lines, names in lower case.
class naive_head {
public:
    explicit naive_head(std::string_view lines) {
        for (std::size_t at = lines.find("\r\n") + 2; at < lines.size();) {
            const std::string_view line = lines.substr(at, lines.find("\r\n", at) - at);
            fields_.push_back(lower(line.substr(0, line.find(':'))) + ":" + lower(line.substr(line.find(':') + 1)));
            at += line.size() + 2;
        }
    }
    bool has(std::string_view name) const { return !value(name).empty(); }
    /// With its colon, and whatever whitespace there is; the lines of one name one after the other.
    std::string value(std::string_view name) const {
        std::string all;
        for (const std::string& field : fields_) {
            if (field.starts_with(std::string(name) + ":")) all += field.substr(name.size());
        }
        return all;
    }
    /// Among the elements of a list.
    bool lists(std::string_view name, std::string_view element) const {
        std::string text;
        for (const std::string& field : fields_) {
            if (field.starts_with(std::string(name) + ":")) text += "," + field.substr(name.size() + 1);
        }
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(',', at), text.size());
            std::string_view each = std::string_view(text).substr(at, end - at);
            while (!each.empty() && (each.front() == ' ' || each.front() == '\t')) each.remove_prefix(1);
            while (!each.empty() && (each.back() == ' ' || each.back() == '\t')) each.remove_suffix(1);
            if (each == element) return true;
            at = end + 1;
        }
        return false;
    }

private:
    static std::string lower(std::string_view text) {
        std::string made(text);
        for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        return made;
    }
    std::vector<std::string> fields_;
};

void read_chunks(std::string_view bytes, std::size_t at, reading& out) {
    for (;;) {
        const std::size_t size = std::strtoul(std::string(bytes.substr(at, 20)).c_str(), nullptr, 16);
        at = bytes.find("\r\n", at) + 2;
        if (size == 0) break;
        out.content += bytes.substr(at, size);
        at += size + 2;
    }
    while (bytes.substr(at, 2) != "\r\n") at = bytes.find("\r\n", at) + 2;
    out.consumed = at + 2;
}

reading read_naively(std::string_view bytes, const asked& request) {
    std::size_t at = 0;
    std::size_t end = bytes.find("\r\n\r\n");
    const auto status_at = [&] { return std::atoi(std::string(bytes.substr(at + 9, 3)).c_str()); };
    int status = status_at();
    while (status < 200 && status != 101) {
        at = end + 4;
        end = bytes.find("\r\n\r\n", at);
        status = status_at();
    }
    reading out;
    out.consumed = end + 4;
    const bool is_old = bytes[at + 7] == '0';
    const naive_head head(bytes.substr(at, end + 2 - at));
    out.tunnel = status == 101 || (request.method == "CONNECT" && status / 100 == 2);
    if (out.tunnel) return out;
    out.reuse = !head.lists("connection", "close") && (!is_old || head.lists("connection", "keep-alive"));
    const bool is_chunked = head.has("transfer-encoding");
    const bool has_length = head.has("content-length");
    require(!(is_chunked && (has_length || is_old)));
    if (request.method == "HEAD" || status == 204 || status == 304) {
        if (status == 204 && is_chunked) out.reuse = false;
        return out;
    }
    const std::uint64_t length = has_length ? std::strtoull(head.value("content-length").c_str() + 1, nullptr, 10) : 0;
    if (status == 205) {
        if (!has_length || length != 0) out.reuse = false;
    } else if (is_chunked) {
        read_chunks(bytes, out.consumed, out);
    } else if (has_length) {
        out.content = bytes.substr(out.consumed, length);
        out.consumed += length;
    } else {
        out.content = bytes.substr(out.consumed);
        out.consumed = bytes.size();
        out.reuse = false;
    }
    return out;
}

/// A connection that carries two exchanges, the second only when the first leaves it good.
class connection {
public:
    connection(const asked& first, const asked& second) : second_(second.context()) { begin(first.context()); }

    void give(std::string_view piece) {
        given_ += piece;
        reader_->give(piece);
        if (!reader_->is_done() || is_second_ || !reader_->verdict().ends_with("] reuse")) return;
        told_ = transcript();
        const std::string rest = given_.substr(reader_->consumed());
        is_second_ = true;
        begin(second_);
        // What comes behind is the answer to the next request: a client that has sent none drops the connection instead.
        give(rest);
    }
    void end() { reader_->end(); }
    bool is_done() const { return reader_->is_done() && (is_second_ || !reader_->verdict().ends_with("] reuse")); }
    std::string told() const { return told_ + transcript(); }

private:
    void begin(response_context context) {
        given_.clear();
        reader_ = std::make_unique<http1::testing::response_reader>(context, head_limits(), content_bytes_max);
    }
    std::string transcript() const { return reader_->verdict() + " " + std::to_string(reader_->consumed()) + " " + reader_->told() + "\n"; }

    response_context second_;
    std::unique_ptr<http1::testing::response_reader> reader_;
    std::string given_;
    std::string told_;
    bool is_second_ = false;
};

std::string told(std::string_view bytes, std::size_t first, std::size_t step, const asked& one, const asked& two, bool ends) {
    connection on(one, two);
    std::size_t next = first;
    for (std::size_t at = 0; at < bytes.size() && !on.is_done();) {
        const std::string_view piece = bytes.substr(at, next);
        on.give(piece);
        at += piece.size();
        next = step;
    }
    if (ends) on.end();
    return on.told();
}

// An accepted answer against the naive reading of the same bytes.
void check_reading(std::string_view bytes, const asked& request, bool ends) {
    http1::testing::response_reader reader(request.context(), head_limits(), content_bytes_max);
    reader.give(bytes);
    if (ends) reader.end();
    if (!reader.verdict().starts_with("ok ")) return;
    const reading naive = read_naively(bytes, request);
    const std::string last = naive.tunnel ? "tunnel" : naive.reuse ? "reuse" : "noreuse";
    require(reader.verdict().substr(6) == " [" + naive.content + "] " + last);
    require(reader.consumed() == naive.consumed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const asked one(data[0]);
    const asked two(data[1]);
    one.check_written(data[1]);
    two.check_written(data[0]);
    const bool ends = (data[2] & 128) != 0;
    const std::size_t first = 1 + (data[2] & 127);
    const std::size_t step = 1 + data[3] % 64;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

    const std::string whole = told(bytes, bytes.size(), 1, one, two, ends);
    require(told(bytes, first, step, one, two, ends) == whole);
    require(told(bytes, 1, 1, one, two, ends) == whole);
    check_reading(bytes, one, ends);
    return 0;
}
