// run: a whole server program in one call.
#pragma once

#include <martlet/server/options.hpp>
#include <martlet/server/router.hpp>

namespace martlet::inline v0::server {

/// Serves `app` until SIGINT or SIGTERM, prints where it listens, and returns what main should return: 0 after a stop, 1 when it could
/// not start, having said why on standard error. The first signal drains, a second one forces. What is logged goes to
/// standard error, unless a sink was set. Called before other threads start.
int run(const router& app, const options& how);

}  // namespace martlet::inline v0::server
