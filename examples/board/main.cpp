// A message board: a page that shows new messages as they are posted, and the same as JSON. docs/guide tells how it came about.
#include <martlet/server.hpp>

#include <cstdio>

#include "command_line.hpp"
#include "feed.hpp"
#include "routes.hpp"
#include "store.hpp"

using namespace martlet;

int main(int argc, char** argv) {
    const auto asked = board::command_line::read({argv + 1, argv + argc});
    if (!asked) {
        std::fprintf(stderr, "board: %s (--help tells more)\n", asked.error().c_str());
        return 2;
    }
    if (asked->wants_help()) {
        std::fputs(board::usage, stdout);
        return 0;
    }

    board::feed news;
    board::store messages;
    if (!messages.open(asked->database())) {
        std::fprintf(stderr, "board: %s\n", messages.what().c_str());
        return 1;
    }
    messages.listen([&](const board::message& posted) { news.publish(posted); });

    server::router app;
    board::add_routes(app, messages, news);
    return server::run(app, server::options(asked->address()).threads(asked->threads()));
}
