#include <martlet/server/run.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <martlet/base/log.hpp>
#include <martlet/rt/log_stderr.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/signals.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/server/http_server.hpp>

namespace martlet::inline v0::server {

namespace {

task<void> stop_at_signals(http_server& serving, signal_set& signals) {
    for (;;) {
        auto signal = co_await signals.next();
        if (!signal) co_return;
        serving.stop();
    }
}

task<void> serve_until_stopped(http_server& serving, signal_set& signals) {
    co_await in_scope([&](scope& jobs) -> task<void> {
        jobs.spawn([&]() -> task<void> { return stop_at_signals(serving, signals); });
        co_await serving.stopped();
        jobs.cancel();
    });
}

}  // namespace

int run(const router& app, const options& how) {
    log::sink* const before = log::set_sink(&log::stderr_sink());
    if (before != nullptr) log::set_sink(before);
    try {
        loop main;
        signal_set signals(main, SIGINT, SIGTERM);
        http_server serving(app, how);
        const auto started = serving.start_on(main);
        if (!started) {
            std::fprintf(stderr, "martlet: %s\n", serving.what().c_str());
            return 1;
        }
        if (!how.is_quiet()) {
            for (const std::string& address : serving.addresses()) std::printf("listening on %s\n", address.c_str());
            std::fflush(stdout);
        }
        main.run(serve_until_stopped(serving, signals));
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "martlet: %s\n", e.what());
        return 1;
    }
}

}  // namespace martlet::inline v0::server
