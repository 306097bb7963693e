// What a warm connection takes from the heap: nothing. Counted over operator new and malloc, which this program replaces.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/detail/testing_internal.hpp>

// A sanitizer has an allocator of its own, and pools go to malloc under it: there is nothing to count then.
#if defined(MARTLET_SANITIZED)
#define MARTLET_COUNTS_ALLOCATIONS 0
#else
#define MARTLET_COUNTS_ALLOCATIONS 1
#endif

namespace {

// Of the test's thread, while it is on.
constinit thread_local bool counting = false;
constinit thread_local std::size_t counted = 0;

[[maybe_unused]] void note() {
    if (counting) ++counted;
}

}  // namespace

#if MARTLET_COUNTS_ALLOCATIONS

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

__attribute__((visibility("default"))) void* malloc(std::size_t size) {
    note();
    return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
    note();
    return __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* block, std::size_t size) {
    note();
    return __libc_realloc(block, size);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
}

#endif

namespace martlet::server {
namespace {

using testing::bench;
using testing::get;

/// Requests of the heap while it lives.
class heap_count {
public:
    heap_count() {
        counted = 0;
        counting = true;
    }
    heap_count(const heap_count&) = delete;
    heap_count& operator=(const heap_count&) = delete;
    ~heap_count() { counting = false; }
    std::size_t made() const { return counted; }
};

/// A connection over a real socket, answered by the bench's loop in this thread. It allocates nothing itself once it is made.
class warm_connection {
public:
    explicit warm_connection(bench& server) : server_(server), ends_(server.on) { server.work().serve(std::move(ends_.stream)); }

    /// Sends `request` and turns the loop until the answer has come; false if none does.
    bool ask(std::string_view request, std::string_view end_of_answer) {
        if (::send(ends_.peer.fd(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return false;
        std::size_t got = 0;
        for (int turn = 0; turn < 1000; ++turn) {
            server_.on.turn(std::chrono::milliseconds(10));
            const ssize_t part = ::recv(ends_.peer.fd(), answer_ + got, sizeof answer_ - got, MSG_DONTWAIT);
            if (part > 0) got += static_cast<std::size_t>(part);
            if (std::string_view(answer_, got).ends_with(end_of_answer)) return true;
        }
        return false;
    }

private:
    bench& server_;
    net::testing::connection ends_;
    char answer_[128 * 1024];
};

class allocation : public ::testing::Test {
protected:
    void SetUp() override {
        if (!MARTLET_COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers replace the allocator, and the pools with it";
        server_.watched = false;
        server_.bounds.requests_max(1'000'000);
    }

    /// What `rounds` requests on a warm connection take from the heap.
    std::size_t heap_use_of(std::string_view request, std::string_view end_of_answer) {
        warm_connection client(server_);
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(client.ask(request, end_of_answer));
        const heap_count heap;
        bool all_answered = true;
        for (int i = 0; i < rounds; ++i) all_answered = client.ask(request, end_of_answer) && all_answered;
        const std::size_t made = heap.made();
        EXPECT_TRUE(all_answered);
        return made;
    }

    static constexpr int rounds = 1000;
    bench server_;
};

TEST_F(allocation, the_counters_count) {
    const heap_count heap;
    void* volatile one = std::malloc(10);
    std::free(one);
    EXPECT_EQ(heap.made(), 1u);
    int* volatile two = new int(3);
    delete two;
    EXPECT_EQ(heap.made(), 2u);
    const std::string three(100, 'x');
    EXPECT_EQ(heap.made(), 3u);
    EXPECT_EQ(three.size(), 100u);
}

TEST_F(allocation, none_for_a_plain_handler) {
    server_.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    EXPECT_EQ(heap_use_of(get("/"), "root"), 0u);
}

TEST_F(allocation, none_for_a_plain_handler_with_browser_fields_and_fields_of_its_own) {
    server_.app.get("/", [](request& req, response& res) {
        const bool known = req.field("Cookie").has_value();
        const auto set = res.set("X-Known", known ? "yes" : "no");
        if (set) res.text(200, "root");
    });
    const std::string fields =
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,application/xhtml+xml\r\nAccept-Language: en\r\n"
        "Accept-Encoding: gzip, deflate, br\r\nCookie: a=b; c=d\r\nCache-Control: max-age=0\r\n";
    EXPECT_EQ(heap_use_of(get("/?a=b", fields), "root"), 0u);
}

TEST_F(allocation, none_for_a_batch) {
    server_.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    std::string batch;
    for (int i = 0; i < 16; ++i) batch += get("/");
    batch += get("/end");
    server_.app.get("/end", [](request&, response& res) { res.text(200, "end"); });
    EXPECT_EQ(heap_use_of(batch, "end"), 0u);
}

TEST_F(allocation, none_for_a_long_answer) {
    static const std::string content = testing::letters(20'000) + "end";
    server_.app.get("/", [](request&, response& res) { res.text(200, content); });
    EXPECT_EQ(heap_use_of(get("/"), "end"), 0u);
}

TEST_F(allocation, none_for_what_the_router_answers) { EXPECT_EQ(heap_use_of(get("/missing"), "Not Found"), 0u); }

TEST_F(allocation, one_pooled_frame_and_nothing_from_the_heap_for_a_coroutine_handler) {
    static bench* here;
    here = &server_;
    static std::size_t frames_most;
    frames_most = 0;
    server_.app.get("/", [](request&, response& res) -> task<> {
        const std::size_t frames = here->on.frames_live();
        if (frames > frames_most) frames_most = frames;
        res.text(200, "root");
        co_return;
    });
    EXPECT_EQ(heap_use_of(get("/"), "root"), 0u);
    // The frame, and the exchange with its copy of the head.
    EXPECT_EQ(frames_most, 2u);
    EXPECT_EQ(server_.on.frames_live(), 0u);
}

TEST_F(allocation, none_for_a_coroutine_handler_that_waits) {
    server_.app.get("/", [](request&, response& res) -> task<> {
        co_await yield();
        auto slept = co_await sleep_for(std::chrono::microseconds(1));
        if (slept) res.text(200, "root");
    });
    EXPECT_EQ(heap_use_of(get("/"), "root"), 0u);
}

TEST_F(allocation, none_for_an_answer_given_later) {
    server_.app.get("/", [](request&, response& res) {
        later_response kept = res.later();
        kept.text(200, "root");
    });
    EXPECT_EQ(heap_use_of(get("/"), "root"), 0u);
}

}  // namespace
}  // namespace martlet::server
