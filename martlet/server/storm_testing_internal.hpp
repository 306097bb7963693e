// What the storm of seeds_simtest.cpp asks a server for: a route of every form, each with an answer that names the request it belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/net/stream_operations.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server::testing {

/// Numbers from a seed. A storm draws all from one of them, so that a seed is the whole of it.
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept : state_(seed) {}
    /// From 0 to below `bound`.
    std::uint64_t below(std::uint64_t bound) noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return (z ^ (z >> 31)) % bound;
    }
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
    std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept { return least + below(most - least + 1); }
    duration time_below(duration most) noexcept { return duration(below(static_cast<std::uint64_t>(most.count()))); }

private:
    std::uint64_t state_;
};

/// The forms of a handler, and what it does when its context is cancelled.
enum class form : std::uint8_t {
    plain,         ///< answers with the target and a digest of the content
    longer,        ///< the same with 40,000 bytes behind it
    ignoring,      ///< plain, runs at the head and drops content
    task,          ///< sleeps, and answers also when cancelled
    early,         ///< answers, and goes on a while
    children,      ///< waits for two children of a scope, and fails with them
    later,         ///< answered from outside
    later_stream,  ///< the same, in pieces
    dropped,       ///< promised to answer later, and forgotten
    throws,        ///< throws what is no exception of the library
    expires,       ///< longer than its handler_timeout
    waits,         ///< sleeps, and fails when cancelled
    stays,         ///< the same, but a FIN does not cancel it
    pulls,         ///< a coroutine that reads content piece by piece
    pulls_all,     ///< the same at once
    unread,        ///< a coroutine that does not look at content
    echo,          ///< sends back what it reads while it reads
    stream,        ///< pieces, with a trailer
    sized,         ///< the same with the length announced
    events,        ///< server-sent events
    file,          ///< a part of a file, by its descriptor
    missing,       ///< there is no such path
    no_method,     ///< there is no such method on that path
    upgrade,       ///< another protocol, which sends back what it gets
    count_,
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(form::count_)> form_paths = {
    "/plain",   "/longer", "/ignoring", "/task",   "/early", "/children", "/later",     "/later_stream",
    "/dropped", "/throws", "/expires",  "/waits",  "/stays", "/pulls",    "/pulls_all", "/unread",
    "/echo",    "/stream", "/sized",    "/events", "/file",  "/missing",  "/plain",     "/upgrade",
};

inline constexpr std::string_view storm_file = "/storm";
inline constexpr std::size_t storm_file_bytes = 60'000;
inline constexpr std::string_view protocol = "echo";

/// The target, and a digest of the content where there was some.
inline std::string told(std::string_view target, std::string_view content) {
    std::string all(target);
    if (content.empty()) return all;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char each : content) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    char text[60];
    std::snprintf(text, sizeof text, " %zu %016llx", content.size(), static_cast<unsigned long long>(hash));
    return all + text;
}

inline std::uint64_t number_of(std::string_view target) { return std::stoull(std::string(target.substr(target.find('?') + 1))); }

inline std::size_t pieces_of(std::string_view target) { return 1 + number_of(target) % 6; }
inline std::string piece_of(std::string_view target, std::size_t at) {
    const std::size_t size = number_of(target) * 7919 % (at % 2 == 0 ? 300 : 9000);
    return std::string(target) + "#" + std::to_string(at) + letters(size);
}
inline std::string event_of(std::string_view target, std::size_t at) { return std::string(target) + "#" + std::to_string(at); }
inline std::size_t file_offset_of(std::string_view target) { return number_of(target) * 104'729 % storm_file_bytes; }

/// What a form's answer contains.
inline std::string content_of(form what, std::string_view target, std::string_view content) {
    std::string all;
    switch (what) {
    case form::longer: return told(target, content) + letters(40'000);
    case form::plain:
    case form::later:
    case form::later_stream:
    case form::pulls:
    case form::pulls_all: return told(target, content);
    case form::echo: return std::string(target) + std::string(content);
    case form::stream:
    case form::sized:
        for (std::size_t i = 0; i < pieces_of(target); ++i) all += piece_of(target, i);
        return all;
    case form::events:
        for (std::size_t i = 0; i < pieces_of(target); ++i) all += "data: " + event_of(target, i) + "\n\n";
        return all;
    case form::file: return letters(storm_file_bytes).substr(file_offset_of(target));
    default: return std::string(target);
    }
}

inline int status_of(form what) noexcept {
    switch (what) {
    case form::dropped:
    case form::throws: return 500;
    case form::expires: return 504;
    case form::missing: return 404;
    case form::no_method: return 405;
    case form::upgrade: return 101;
    default: return 200;
    }
}

/// Whether the content of a request has gone when its handler has ended as it should.
inline bool reads_content(form what) noexcept {
    switch (what) {
    case form::plain:
    case form::longer:
    case form::later:
    case form::later_stream:
    case form::dropped:
    case form::throws:
    case form::pulls:
    case form::pulls_all:
    case form::echo: return true;
    default: return false;
    }
}

/// Gives way when its context is cancelled; the others answer all the same.
inline bool can_be_cancelled(form what) noexcept {
    switch (what) {
    case form::plain:
    case form::longer:
    case form::ignoring:
    case form::task:
    case form::early:
    case form::stays:
    case form::dropped:
    case form::throws:
    case form::unread:
    case form::missing:
    case form::no_method: return false;
    default: return true;
    }
}

/// The routes, and what waits for an answer from outside.
class storm_routes {
public:
    explicit storm_routes(router& app) {
        add(app, form::plain, [](request& req, response& res) { res.text(200, told(req.target(), req.content())); });
        add(app, form::longer, [](request& req, response& res) { res.text(200, told(req.target(), req.content()) + letters(40'000)); });
        add(app, form::ignoring, [](request& req, response& res) { res.text(200, req.target()); }, route_options().ignores_body());
        add(app, form::later, [this](request& req, response& res) { keep(req, res, form::later); });
        add(app, form::later_stream, [this](request& req, response& res) { keep(req, res, form::later_stream); });
        add(app, form::dropped, [](request&, response& res) { const later_response forgotten = res.later(); });
        add(app, form::throws, [](request&, response&) { throw 1; });
        add_waiting(app);
        add_reading(app);
        add_streaming(app);
    }

    /// Answers one of those that wait, or all.
    void answer_some(bool all) {
        while (!waiting_.empty()) {
            {
                kept& first = waiting_.front();
                if (first.what == form::later) {
                    first.to.text(200, std::string_view(first.content));
                } else {
                    // Nobody waits here for the other side to take it.
                    body_writer body = first.to.stream(200, http::media::text);
                    const std::size_t half = first.content.size() / 2;
                    static_cast<void>(body.send(std::string_view(first.content).substr(0, half)));
                    static_cast<void>(body.send(std::string_view(first.content).substr(half)));
                    static_cast<void>(body.end());
                }
            }
            waiting_.pop_front();
            if (!all) return;
        }
    }

private:
    struct kept {
        form what;
        std::string content;
        later_response to;
    };

    template <class F>
    static void add(router& app, form what, F h, route_options how = {}) {
        const std::string_view path = form_paths[static_cast<std::size_t>(what)];
        app.get(path, h, how);
        app.post(path, h, how);
    }

    void keep(request& req, response& res, form what) {
        std::string content = told(req.target(), req.content());
        waiting_.push_back(kept{what, std::move(content), res.later()});
    }

    static void add_waiting(router& app) {
        using namespace std::chrono_literals;
        add(app, form::task, [](request& req, response& res) -> task<> {
            auto slept = co_await sleep_for(3ms);
            if (!slept) co_await yield();
            res.text(200, req.target());
        });
        add(app, form::early, [](request& req, response& res) -> task<> {
            res.text(200, req.target());
            auto slept = co_await sleep_for(5ms);
            static_cast<void>(slept);
        });
        add(app, form::children, [](request& req, response& res) -> task<> {
            std::string parts[2];
            co_await in_scope([&parts, &req](scope& both) -> task<> {
                for (std::string& part : parts) {
                    both.spawn([&part, &req]() -> task<> {
                        auto slept = co_await sleep_for(2ms);
                        slept.value();
                        part = req.target();
                    });
                }
                co_return;
            });
            res.text(200, parts[0] == parts[1] ? parts[0] : parts[0] + " is not " + parts[1]);
        });
        add(
            app, form::expires,
            [](request&, response&) -> task<> {
                auto slept = co_await sleep_for(1h);
                static_cast<void>(slept);
            },
            route_options().handler_timeout(5ms));
        const auto waits = [](request& req, response& res) -> task<> {
            auto slept = co_await sleep_for(20ms);
            slept.value();
            res.text(200, req.target());
        };
        add(app, form::waits, waits);
        add(app, form::stays, waits, route_options().keeps_running_after_fin());
        add(app, form::upgrade, [](request&, response& res) -> task<> {
            auto up = co_await res.upgrade(std::string(protocol));
            net::byte_stream& stream = up.value().stream();
            auto first = co_await net::write(stream, up->already_read());
            if (!first) co_return;
            buffer bytes(16 * 1024);
            for (;;) {
                auto got = co_await net::read(stream, bytes);
                if (!got || *got == 0) co_return;
                auto put = co_await net::write(stream, bytes.view());
                if (!put) co_return;
                bytes.clear();
            }
        });
    }

    static void add_reading(router& app) {
        using namespace std::chrono_literals;
        add(app, form::pulls, [](request& req, response& res) -> task<> {
            std::string all;
            for (;;) {
                auto piece = co_await req.read();
                if (piece.value().empty()) break;
                all += *piece;
                if (all.size() % 3 != 0) continue;
                auto slept = co_await sleep_for(1ms);
                slept.value();
            }
            res.text(200, told(req.target(), all));
        });
        add(app, form::pulls_all, [](request& req, response& res) -> task<> {
            auto all = co_await req.read_all();
            res.text(200, told(req.target(), all.value()));
        });
        add(app, form::unread, [](request& req, response& res) -> task<> {
            res.text(200, req.target());
            co_return;
        });
        add(app, form::echo, [](request& req, response& res) -> task<> {
            auto body = res.stream(200, http::media::bytes);
            auto sent = co_await body.send(req.target());
            sent.value();
            for (;;) {
                auto piece = co_await req.read();
                if (piece.value().empty()) co_return;
                auto back = co_await body.send(*piece);
                back.value();
            }
        });
    }

    static void add_streaming(router& app) {
        using namespace std::chrono_literals;
        add(app, form::stream, [](request& req, response& res) -> task<> {
            auto body = res.stream(200, http::media::text);
            for (std::size_t i = 0; i < pieces_of(req.target()); ++i) {
                auto sent = co_await body.send(piece_of(req.target(), i));
                sent.value();
                if (i % 2 == 0) continue;
                auto slept = co_await sleep_for(1ms);
                slept.value();
            }
            body.trailer("Check", "whole").value();
        });
        add(app, form::sized, [](request& req, response& res) -> task<> {
            auto body = res.stream(200, http::media::text, content_of(form::sized, req.target(), {}).size());
            for (std::size_t i = 0; i < pieces_of(req.target()); ++i) {
                auto sent = co_await body.send(piece_of(req.target(), i));
                sent.value();
            }
            auto flushed = co_await body.flush();
            flushed.value();
        });
        add(app, form::events, [](request& req, response& res) -> task<> {
            auto feed = res.sse();
            for (std::size_t i = 0; i < pieces_of(req.target()); ++i) {
                auto sent = co_await feed.send(event_of(req.target(), i));
                sent.value();
                auto slept = co_await sleep_for(3ms);
                slept.value();
            }
        });
        add(app, form::file, [](request& req, response& res) -> task<> {
            const int number = kernel::file_open(storm_file.data(), kernel::open_mode::read);
            if (number < 0) throw std::bad_expected_access<error>(error::system(-number));
            auto owner = file_owner::adopt(number, [](int of, void*) noexcept { const descriptor closed(of); });
            if (!owner) {
                const descriptor closed(number);
                owner.value();
            }
            const std::size_t offset = file_offset_of(req.target());
            auto body = res.stream(200, http::media::bytes);
            auto sent = co_await body.send(file_range(*owner, offset, storm_file_bytes - offset));
            sent.value();
        });
    }

    std::list<kept> waiting_;
};

}  // namespace martlet::server::testing
