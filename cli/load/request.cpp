#include "request.hpp"

#include <algorithm>
#include <cctype>

#include <martlet/net/address.hpp>
#include <martlet/wire/http1/request_encoder.hpp>
#include <martlet/wire/uri/http_uri.hpp>

namespace load {

using namespace martlet;

namespace {

bool is_equal(std::string_view text, std::string_view small) {
    return std::ranges::equal(text, small, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

result<net::address> address_of(const uri::http_uri& at, std::string_view unix_path) {
    if (unix_path.starts_with('@')) return net::address::unix_abstract(unix_path.substr(1));
    if (!unix_path.empty()) return net::address::unix_path(unix_path);
    std::string host(at.host());
    for (char& c : host) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return net::address::parse(host + ":" + std::to_string(at.port()));
}

std::expected<std::string, std::string> fields_of(const request_parts& parts, std::string& host) {
    std::string lines;
    for (const auto& [name, value] : parts.fields) {
        const auto checked_name = http::token::make(name);
        const auto checked_value = http::field_value::make(value);
        if (!checked_name || !checked_value) return std::unexpected("\"" + name + ": " + value + "\" is no header field");
        if (is_equal(name, "connection") && is_equal(value, "keep-alive")) {  // says what is so without it, but browsers do say it
            lines.append(name).append(": ").append(value).append("\r\n");
            continue;
        }
        if (is_equal(name, "host")) {
            host = value;
            continue;
        }
        std::string line(name.size() + value.size() + 8, '\0');
        const char* end = http1::try_encode_request_field(line.data(), *checked_name, *checked_value);
        if (end == nullptr) return std::unexpected("the field " + name + " frames the message or belongs to the connection");
        line.resize(static_cast<std::size_t>(end - line.data()));
        lines += line;
    }
    return lines;
}

std::expected<std::string, std::string> encode(const http1::request_start& start, const request_parts& parts, const std::string& fields) {
    http1::request_options options;
    options.close(parts.closes);
    if (parts.content) options.content(http1::body_framing::length(parts.content->size()));
    std::string out(http1::request_head_bytes_max(start, options, fields), '\0');
    const char* end = http1::try_encode_request_head(out.data(), start, options, fields);
    if (end == nullptr) return std::unexpected(std::string(start.method_text()) + " takes no content");
    out.resize(static_cast<std::size_t>(end - out.data()));
    return parts.content ? out + *parts.content : out;
}

}  // namespace

std::expected<target, std::string> make_target(const std::string& url, unsigned share, const request_parts& parts,
                                               std::string_view unix_path) {
    const auto parsed = uri::http_uri::parse(url);
    if (!parsed) {
        return std::unexpected("\"" + url + "\" is no URL as http://127.0.0.1:8080/path: " + std::string(parsed.error().text()));
    }
    if (parsed->is_https()) return std::unexpected("\"" + url + "\": there is no TLS yet, so no https");
    const auto where = address_of(*parsed, unix_path);
    if (!where) {
        return std::unexpected("\"" + url + "\": no names are looked up yet; give an address or localhost (" +
                               std::string(where.error().text()) + ")");
    }
    std::string host = parsed->host_field();
    auto fields = fields_of(parts, host);
    if (!fields) return std::unexpected(std::move(fields.error()));
    const std::string method = !parts.method.empty() ? parts.method : (parts.content ? "POST" : "GET");
    const std::string path = parsed->target();
    const auto start = http1::request_start::make(method, path, host);
    if (!start) return std::unexpected(method + " " + path + " with Host " + host + ": " + std::string(start.error().text()));
    if (start->method() == http::method::connect) return std::unexpected("CONNECT asks for no answer that could be checked");
    auto request = encode(*start, parts, *fields);
    if (!request) return std::unexpected(std::move(request.error()));
    target made;
    made.url = url;
    made.where = *where;
    made.method = start->method();
    made.request = std::move(*request);
    made.share = share;
    made.closes = parts.closes;
    return made;
}

}  // namespace load
