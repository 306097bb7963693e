// A step of docs/guide/01-a-message-board.md: what is posted by a form is shown to all.
#include <martlet/server.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace martlet;
using server::request;
using server::response;

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<') {
            out += "&lt;";
        } else if (c == '&') {
            out += "&amp;";
        } else {
            out += c;
        }
    }
    return out;
}

std::string page(const std::vector<std::string>& posts) {
    std::string out = "<!doctype html><title>Board</title><form method=post><input name=text> <button>Post</button></form>";
    for (const std::string& each : posts) out += "<p>" + escaped(each) + "</p>";
    return out;
}

int main(int argc, char** argv) {
    std::vector<std::string> posts;

    server::router app;
    app.get("/", [&](request&, response& res) { res.html(200, page(posts)); });
    app.post(
        "/",
        [&](request& req, response& res) {
            const auto form = req.form().value();
            const auto text = form.find("text");
            if (!text || text->empty()) {
                res.text(422, "There is no text.\n");
                return;
            }
            posts.emplace_back(*text);
            res.redirect(303, "/");
        },
        server::route_options().body_bytes_max(16 * 1024));
    return server::run(app, server::options(argc > 1 ? argv[1] : "127.0.0.1:8080"));
}
