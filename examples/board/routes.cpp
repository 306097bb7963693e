#include "routes.hpp"

#include <martlet/base.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "assets.hpp"
#include "json.hpp"
#include "message.hpp"
#include "pages.hpp"

namespace board {

using namespace martlet;
using server::request;
using server::response;

namespace {

constexpr int page_messages_max = 50;
constexpr int listed_messages_max = 100;
// The longest message with each of its bytes escaped is well below it.
constexpr std::uint64_t post_bytes_max = 32 * 1024;
// A reader that takes nothing for so long is dropped; it catches up when it comes back.
constexpr auto reader_timeout = std::chrono::seconds(30);

/// Everything comes from here, and nothing from elsewhere: what somebody might smuggle into a page would not run.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'";

/// Problem details (RFC 9457). What went wrong in the server is for its log, and not its peer's business.
void problem(response& res, const error& why) {
    if (!why.is_peer() && !why.is_cancelled()) log::error("a request failed", log::field("why", why.text()));
    res.problem(why.http_status(), why.is_peer() ? why.text() : std::string_view());
}

/// The same with what is wrong with each field, for a form to show.
void problem(response& res, const faults& wrong) {
    std::string fields;
    if (!wrong.name.empty()) fields += "\"name\":" + json_string(wrong.name);
    if (!wrong.text.empty()) fields += (fields.empty() ? "\"text\":" : ",\"text\":") + json_string(wrong.text);
    res.bytes(
        422, http::content_type(http::field_value::literal("application/problem+json")),
        R"({"status":422,"title":"Unprocessable Content","detail":"The message cannot be posted as it is.","faults":{)" + fields + "}}");
}

// --- the page ---

task<> show_page(response& res, store& messages, int status, attempt tried) {
    auto newest = co_await messages.newest(page_messages_max);
    res.html(status, page(newest.value(), tried));
}

task<> post_form(request& req, response& res, store& messages) {
    auto content = co_await req.read_all();
    const auto form = req.form(content.value()).value();
    attempt tried;
    tried.what.name = form.find("name").value_or("");
    tried.what.text = form.find("text").value_or("");
    const auto checked = draft::check(tried.what.name, tried.what.text);
    if (!checked) {
        tried.wrong = checked.error();
        co_await show_page(res, messages, 422, std::move(tried));
        co_return;
    }
    auto added = co_await messages.add(*checked);
    added.value();
    res.redirect(303, "/");
}

// --- the API ---

task<> list_messages(request& req, response& res, store& messages) {
    const auto after = req.query_value<std::int64_t>("after", 0);
    if (!after) co_return problem(res, after.error());
    const auto limit = req.query_value("limit", listed_messages_max);
    if (!limit) co_return problem(res, limit.error());
    if (*limit < 1 || *limit > listed_messages_max)
        co_return res.problem(400, "limit must be a number from 1 to " + std::to_string(listed_messages_max));
    auto found = co_await messages.after(*after, *limit);
    if (!found) co_return problem(res, found.error());
    std::string content;
    for (const message& m : *found) content += (content.empty() ? "" : ",\n") + to_json(m);
    res.json(200, "{\"messages\":[" + content + "]}\n");
}

/// Why a post was not taken.
struct refusal {
    int status;
    std::string detail;
};

std::expected<posted, refusal> read_post(const request& req, std::string_view content) {
    std::string_view type = req.field(http::field_id::content_type).value_or("");
    type = type.substr(0, type.find_first_of("; "));
    if (type == "application/json") {
        auto read = read_json(content);
        if (!read) return std::unexpected(refusal{400, std::move(read.error())});
        return std::move(*read);
    }
    if (type != "application/x-www-form-urlencoded")
        return std::unexpected(refusal{415, "A message comes as application/json or as application/x-www-form-urlencoded."});
    const auto refused = [](const error& why) { return std::unexpected(refusal{why.http_status(), std::string(why.text())}); };
    const auto form = req.form(content);
    if (!form) return refused(form.error());
    auto name = form->value("name");
    if (!name) return refused(name.error());
    auto text = form->value("text");
    if (!text) return refused(text.error());
    return posted{std::move(*name), std::move(*text)};
}

task<> post_message(request& req, response& res, store& messages) {
    auto content = co_await req.read_all();
    if (!content) co_return problem(res, content.error());
    const auto read = read_post(req, *content);
    if (!read) co_return res.problem(read.error().status, read.error().detail);
    const auto checked = draft::check(read->name, read->text);
    if (!checked) co_return problem(res, checked.error());
    auto added = co_await messages.add(*checked);
    if (!added) co_return problem(res, added.error());
    res.json(201, to_json(*added));
}

// --- the stream ---

/// The id of the last message that a reader has: a browser that comes back says it itself.
result<std::int64_t> place_of(const request& req) {
    const std::string_view last = req.field("Last-Event-ID").value_or("");
    std::int64_t place = 0;
    const auto [end, wrong] = std::from_chars(last.data(), last.data() + last.size(), place);
    if (wrong == std::errc() && end == last.data() + last.size()) return place;
    return req.query_value<std::int64_t>("after", 0);
}

task<> send_news(request& req, response& res, store& messages) {
    std::int64_t place = place_of(req).value();
    tail& latest = *req.local<std::shared_ptr<tail>>();
    auto out = res.sse();
    for (;;) {
        auto next = co_await news_after(place, latest, messages);
        if (!next) co_return;
        for (const auto& each : *next) {
            auto sent = co_await within(reader_timeout, out.send("", each->json(), std::to_string(each->id())));
            if (!sent) co_return;
            place = each->id();
        }
    }
}

}  // namespace

void add_routes(server::router& app, store& messages, feed& news) {
    app.on_head([](request&, server::answer_head& head) {
        head.add("Content-Security-Policy", content_policy).value();
        head.add("X-Content-Type-Options", "nosniff").value();
    });

    const auto posting = server::route_options().body_bytes_max(post_bytes_max);
    app.get("/", [&](request&, response& res) { return show_page(res, messages, 200, attempt()); });
    app.post("/", [&](request& req, response& res) { return post_form(req, res, messages); }, posting);
    app.get("/api/messages", [&](request& req, response& res) { return list_messages(req, res, messages); });
    app.post("/api/messages", [&](request& req, response& res) { return post_message(req, res, messages); }, posting);
    app.local<std::shared_ptr<tail>>([&](loop& on) { return news.join(on); });
    app.get("/events", [&](request& req, response& res) { return send_news(req, res, messages); });

    // A page names them with their version, so what a browser has is never old.
    const auto add = [&](std::string_view path, const asset& what, http::media type) {
        app.get(path, [&what, type](request&, response& res) {
            res.set(http::field_id::cache_control, "public, max-age=31536000, immutable").value();
            res.bytes(200, type, what.content);
        });
    };
    add("/board.css", board_css, http::media::css);
    add("/board.js", board_js, http::media::javascript);
    add("/icon.svg", icon_svg, http::media::svg);
}

}  // namespace board
