// A step of docs/guide/01-a-message-board.md: what is posted appears in every open window.
#include <martlet/server.hpp>

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

using namespace martlet;
using server::request;
using server::response;
using namespace std::chrono_literals;

constexpr auto page = R"(<!doctype html>
<title>Board</title>
<form id=form><input id=text> <button>Post</button></form>
<div id=posts></div>
<script>
    const stream = new EventSource("/events");
    stream.onmessage = (event) => {
        const line = document.createElement("p");
        line.textContent = event.data;
        posts.prepend(line);
    };
    form.onsubmit = () => {
        fetch("/posts", { method: "POST", body: text.value });
        return false;
    };
</script>
)";

/// How many of the posts a reader has that comes back.
std::size_t seen_before(const request& req) {
    const std::string_view last = req.field("Last-Event-ID").value_or("");
    std::size_t count = 0;
    std::from_chars(last.data(), last.data() + last.size(), count);
    return count;
}

int main(int argc, char** argv) {
    std::vector<std::string> posts;
    event posted;

    server::router app;
    app.get("/", [](request&, response& res) { res.html(200, page); });
    app.post("/posts", [&](request& req, response& res) {
        posts.emplace_back(req.content());
        posted.set();
        posted.reset();
        res.empty(204);
    });
    app.get("/events", [&](request& req, response& res) -> task<> {
        std::size_t sent = seen_before(req);
        auto feed = res.sse();
        for (;;) {
            while (sent < posts.size()) {
                auto queued = co_await within(30s, feed.send("", posts[sent], std::to_string(sent + 1)));
                if (!queued) co_return;
                ++sent;
            }
            auto woken = co_await posted.wait();
            if (!woken) co_return;
        }
    });
    return server::run(app, server::options(argc > 1 ? argv[1] : "127.0.0.1:8080"));
}
