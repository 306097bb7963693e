// What the fuzz programs of the server ask for: routes with every form of handler, and what each is to answer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <martlet/base/buffer.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/server/router.hpp>

namespace martlet::server::fuzzing {

/// Ends the program with the broken rule, so that the fuzzer keeps the input.
inline void require(bool holds, const char* rule, std::string_view shown = {}) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n%.*s\n", rule, static_cast<int>(shown.size()), shown.data());
    std::abort();
}

/// What `/late` has promised to answer.
class late_answers {
public:
    static late_answers& of_program() {
        static late_answers all;
        return all;
    }
    void promise(std::string content, later_response to) { waiting_.emplace_back(std::move(content), std::move(to)); }
    /// False: there was none.
    bool give() {
        if (waiting_.empty()) return false;
        // An answer may bring the next request, and with it another promise.
        auto due = std::exchange(waiting_, {});
        for (auto& [content, to] : due) to.bytes(200, http::media::bytes, content);
        return true;
    }

private:
    std::vector<std::pair<std::string, later_response>> waiting_;
};

/// Sends each byte twice.
class doubling final : public body_filter {
public:
    static std::string of(std::string_view text) {
        std::string twice;
        for (const char c : text) twice.append(2, c);
        return twice;
    }
    result<void> put(std::string_view content, outq& out) override {
        if (!out.append_copy(of(content))) return failure(error::system(12));
        return {};
    }
    result<void> end(outq&) override { return {}; }
};

namespace detail {

inline void echo(request& req, response& res) { res.bytes(200, http::media::bytes, req.content()); }

inline task<> pull(request& req, response& res) {
    std::string all;
    for (;;) {
        auto piece = co_await req.read();
        const std::string_view bytes = piece.value();
        if (bytes.empty()) break;
        all += bytes;
        co_await yield();
    }
    res.bytes(200, http::media::bytes, all);
}

inline task<> pipe(request& req, response& res) {
    auto body = res.stream(200, http::media::bytes);
    for (;;) {
        auto piece = co_await req.read();
        const std::string_view bytes = piece.value();
        if (bytes.empty()) break;
        auto sent = co_await body.send(bytes);
        if (!sent) co_return;
    }
}

inline task<> trailed(request& req, response& res) {
    auto all = co_await req.read_all();
    const std::string content = std::move(all).value();
    auto body = res.stream(200, http::media::bytes);
    auto sent = co_await body.send(std::string_view(content));
    if (!sent) co_return;
    co_await yield();
    body.trailer("X-Size", std::to_string(content.size())).value();
    body.end().value();
}

/// Announces `length` and sends the target, in two pieces.
inline task<> announced(request& req, response& res, std::uint64_t length) {
    const std::string_view target = req.target();
    auto body = res.stream(200, http::media::text, length);
    auto first = co_await body.send(target.substr(0, 1));
    if (!first) co_return;
    co_await yield();
    auto second = co_await body.send(target.substr(1));
    static_cast<void>(second);
}

inline task<> speak_raw(request&, response& res) {
    auto up = co_await res.upgrade("raw");
    upgraded& peer = up.value();
    auto written = co_await net::write(peer.stream(), peer.already_read());
    if (!written) co_return;
    buffer in(1024);
    for (;;) {
        auto got = co_await net::read(peer.stream(), in);
        if (!got || *got == 0) co_return;
        auto sent = co_await net::write(peer.stream(), in.view());
        if (!sent) co_return;
        in.clear();
    }
}

template <class Group>
void add_echoes(Group& to, const std::string& prefix) {
    for (const http::method each : {http::method::get, http::method::post, http::method::put}) {
        to.add(each, prefix + "/echo", echo);
        to.add(each, prefix + "/pull", pull);
        to.add(each, prefix + "/pipe", pipe);
        to.add(each, prefix + "/small", echo, route_options().body_bytes_max(5));
        to.add(each, prefix + "/late", [](request& req, response& res) {
            std::string content(req.content());
            late_answers::of_program().promise(std::move(content), res.later());
        });
    }
}

}  // namespace detail

inline void add_routes(router& app) {
    app.get("/", [](request& req, response& res) { res.text(200, req.target()); });
    detail::add_echoes(app, "");
    app.post("/nobody", [](request&, response& res) -> task<> {
        res.text(200, "not read");
        co_return;
    });
    app.post("/ignored", [](request&, response& res) { res.text(200, "ignored"); }, route_options().ignores_body());
    app.post("/trailed", detail::trailed);
    app.get("/exact", [](request& req, response& res) -> task<> { return detail::announced(req, res, req.target().size()); });
    app.get("/short", [](request& req, response& res) -> task<> { return detail::announced(req, res, req.target().size() + 1); });
    app.get("/events", [](request& req, response& res) -> task<> {
        auto feed = res.sse();
        auto sent = co_await feed.send(req.query());
        static_cast<void>(sent);
    });
    app.get("/throws", [](request&, response&) { throw 1; });
    app.get("/silent", [](request&, response&) -> task<> { co_return; });
    app.get("/raw", detail::speak_raw);
    app.get("/number/:n", [](request& req, response& res) { res.text(200, std::to_string(req.param<unsigned>("n").value())); });
    app.post("/form", [](request& req, response& res) {
        auto form = req.form();
        res.text(200, form.value().value<std::string>("a", "none").value());
    });
    app.get("/cookie", [](request& req, response& res) {
        res.set_cookie(http::set_cookie("seen", "1")).value();
        res.text(200, req.cookie("a").value_or("none"));
    });
    route_group group = app.group("/group");
    group.before([](request& req, response& res) {
        if (req.field("X-Deny")) res.text(403, "denied");
    });
    group.on_head([](request&, answer_head& head) { head.add("X-Point", "seen").value(); });
    group.filter([](request&, answer_head&) -> std::unique_ptr<body_filter> { return std::make_unique<doubling>(); });
    detail::add_echoes(group, "");
}

/// What the answer to a request that was served is to say; nothing where only its form is known.
class expected {
public:
    /// `content` is the request's.
    expected(const router& app, http::method method, std::string_view path, std::string_view target, std::string_view content) {
        path_params params;
        const routing where = app.resolve(method, path, params);
        handled_ = where.run() != nullptr;
        status_ = where.status();
        // What runs around a group runs around the answers without a handler below it too.
        in_group_ = path.starts_with("/group/");
        // What follows it is meant for somebody else, whatever the routes.
        if (method == http::method::connect) {
            handled_ = false;
            status_ = 405;
        }
        if (!handled_) return;
        path_ = where.to()->path();
        plain_ = where.run()->is_plain();
        options_ = where.to()->options(method);
        const std::string_view last = std::string_view(path_).substr(path_.rfind('/'));
        reads_ = last == "/echo" || last == "/pull" || last == "/pipe" || last == "/small" || last == "/late" || last == "/trailed";
        if (last == "/" || last == "/exact") content_ = target;
        if (reads_) content_ = content;
        if (last == "/nobody") content_ = "not read";
        if (last == "/ignored") content_ = "ignored";
        if (last == "/throws" || last == "/silent") status_ = 500;
        if (content_ && in_group_) content_ = doubling::of(*content_);
        if (content_) status_ = 200;
    }

    /// 0: one of several.
    int status() const { return status_; }
    const std::optional<std::string>& content() const { return content_; }
    bool is_handled() const { return handled_; }
    /// The handler runs once the content is there.
    bool is_collected() const { return handled_ && plain_ && !options_.ignores_body(); }
    /// The handler looks at the content, and fails with it.
    bool reads() const { return reads_; }
    bool is_piped() const { return path_.ends_with("/pipe"); }
    bool is_late() const { return path_.ends_with("/late"); }
    bool is_short() const { return path_ == "/short"; }
    bool in_group() const { return in_group_; }
    const route_options& options() const { return options_; }

private:
    std::string path_;
    int status_ = 0;
    std::optional<std::string> content_;
    route_options options_;
    bool handled_ = false;
    bool plain_ = false;
    bool reads_ = false;
    bool in_group_ = false;
};

}  // namespace martlet::server::fuzzing
