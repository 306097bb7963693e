// The server component: router, handlers, and a server that runs them.
#pragma once

#include <martlet/rt/combine.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/files.hpp>
#include <martlet/server/http_server.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/server/observer.hpp>
#include <martlet/server/options.hpp>
#include <martlet/server/request.hpp>
#include <martlet/server/response.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/run.hpp>
