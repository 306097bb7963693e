// routes: what the board answers to whom.
//
//   GET  /                 the page                    GET  /api/messages?after=ID&limit=N   messages as JSON, oldest first
//   POST /                 its form, without script    POST /api/messages                    one more, as JSON or as a form
//   GET  /board.css, ...   what the page needs         GET  /events?after=ID                 each new one, as it is posted
#pragma once

#include <martlet/server.hpp>

#include "feed.hpp"
#include "store.hpp"

namespace board {

/// `messages` and `news` outlive `app`.
void add_routes(martlet::server::router& app, store& messages, feed& news);

}  // namespace board
