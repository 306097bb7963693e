// test_client: asks a router without sockets, for tests of handlers. It is an implementation of exchange of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <martlet/rt/blocking_pool.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/exchange.hpp>
#include <martlet/server/router.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::server {

/// What a test asks for.
class test_request {
public:
    test_request(http::method method, std::string_view target) : method_(method), target_(target) {}
    test_request& field(std::string_view name, std::string_view value) {
        fields_.emplace_back(std::string(name), std::string(value));
        return *this;
    }
    /// What stands behind the head. A coroutine handler reads it as one piece.
    test_request& content(std::string bytes) {
        content_ = std::move(bytes);
        return *this;
    }
    test_request& content(std::string_view type, std::string bytes) { return field("Content-Type", type).content(std::move(bytes)); }
    /// `text` is JSON already.
    test_request& json(std::string text) { return content("application/json", std::move(text)); }
    /// A further field of an HTML form.
    test_request& form(std::string_view name, std::string_view value);
    http::method method() const noexcept { return method_; }
    const std::string& target() const noexcept { return target_; }
    const std::vector<std::pair<std::string, std::string>>& fields() const noexcept { return fields_; }
    const std::string& content() const noexcept { return content_; }

private:
    http::method method_;
    std::string target_;
    std::vector<std::pair<std::string, std::string>> fields_;
    std::string content_;
};

/// What it was answered. Owns its bytes.
class test_answer {
public:
    int status() const noexcept { return status_; }
    /// The value of Content-Type; empty for none.
    const std::string& content_type() const noexcept { return type_; }
    const std::string& content() const noexcept { return content_; }
    /// A content that was streamed came to its end; one that was given at once always does.
    bool is_whole() const noexcept { return whole_; }
    /// The value of the first trailer of that name.
    std::optional<std::string_view> trailer(std::string_view name) const noexcept;
    /// The value of the first field of that name that the handler set, compared without case.
    std::optional<std::string_view> field(std::string_view name) const noexcept;

private:
    friend class test_client;
    friend class test_exchange;
    int status_ = 0;
    std::string type_;
    std::string fields_;
    std::string content_;
    std::string trailers_;
    bool whole_ = true;
};

/// Runs handlers as a server does: 404 and 405 from the router, HEAD from GET, what stands around a route, its limits of content, 500 for
/// one that throws or does not answer. Coroutine handlers run to their end on the client's own loop, and what they stream is collected. A
/// change of protocol is refused.
class test_client {
public:
    /// `app` outlives the client.
    /// Throws what the factory of a local throws.
    explicit test_client(const router& app) : app_(app), locals_(loop_, app.locals()) {}
    test_client(const test_client&) = delete;
    test_client& operator=(const test_client&) = delete;
    ~test_client() { loop_.run(locals_.close_all()); }

    test_answer ask(const test_request& what);
    test_answer post(std::string_view target, std::string content) {
        return ask(test_request(http::method::post, target).content(std::move(content)));
    }
    test_answer get(std::string_view target) { return ask(test_request(http::method::get, target)); }

    /// Where coroutine handlers run.
    loop& on() noexcept { return loop_; }

private:
    const router& app_;
    blocking_pool pool_;
    loop loop_;
    local_table locals_;
};

}  // namespace martlet::inline v0::server
