// The test stream itself: it is unruly in each of its ways, and yet loses nothing and always goes on.
#include <martlet/net/test_stream.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::net {
namespace {

/// What the test stream's user is: woken, it tries, and arms again when blocked.
class pump final : public ready_node {
public:
    pump(byte_stream& stream, direction which)
        : ready_node([](ready_node& node) noexcept { static_cast<pump&>(node).go(); }), stream_(stream), which_(which) {}
    void go() noexcept {
        ++wakes;
        io last;
        while ((last = which_ == direction::reading ? stream_.try_read(in) : stream_.try_write(out)) == io::moved && !out_is_done()) {
        }
        blocked += last == io::blocked;
        ended = last == io::ended;
        failed = last == io::failed;
        most_pending = std::max(most_pending, stream_.pending());
        if (last == io::blocked) stream_.arm(which_, this);
    }
    bool out_is_done() const { return which_ == direction::writing; }

    buffer in{1 << 20};
    outq out;
    int wakes = 0;
    int blocked = 0;
    bool ended = false;
    bool failed = false;
    std::size_t most_pending = 0;

private:
    byte_stream& stream_;
    direction which_;
};

TEST(test_stream, tame_behaves_as_a_socket) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    pump reader(*stream, direction::reading);
    reader.go();
    ASSERT_TRUE(peer.settle());
    EXPECT_EQ(reader.wakes, 1);
    peer.send("hello");
    ASSERT_TRUE(peer.settle());
    EXPECT_EQ(reader.wakes, 2);
    EXPECT_EQ(reader.in.view(), "hello");
    EXPECT_EQ(stream->pending(), 0u);
    pump writer(*stream, direction::writing);
    ASSERT_TRUE(writer.out.append_copy("world"));
    writer.go();
    EXPECT_TRUE(writer.out.empty());
    EXPECT_EQ(peer.take(), "world");
    peer.finish();
    ASSERT_TRUE(peer.settle());
    EXPECT_TRUE(reader.ended);
    EXPECT_TRUE(stream->peer_closed());
    EXPECT_FALSE(stream->peer_failed());
}

TEST(test_stream, unruly_does_each_of_its_tricks_and_loses_nothing) {
    int wakes_for_nothing = 0, refused = 0;
    std::size_t hidden = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        loop on;
        test_peer peer(on, unruly_options(seed).capacity_bytes(1000));
        auto stream = peer.stream();
        pump reader(*stream, direction::reading), writer(*stream, direction::writing);
        const std::string question(3000, 'q'), answer(5000, 'a');
        ASSERT_TRUE(writer.out.append_copy(answer));
        reader.go();
        ASSERT_TRUE(peer.settle());
        wakes_for_nothing += reader.wakes - 1;
        writer.go();
        std::string got;
        std::size_t sent = 0;
        for (int round = 0; round < 10'000 && (got.size() < answer.size() || reader.in.size() < question.size()); ++round) {
            if (sent < question.size()) peer.send(question.substr(sent, 100));
            sent += 100;
            ASSERT_TRUE(peer.settle()) << "seed " << seed << ": the stream spins";
            got += peer.take(97);
        }
        EXPECT_TRUE(got == answer && reader.in.view() == question) << "seed " << seed << ' ' << got.size() << ' ' << reader.in.size();
        refused += writer.blocked;
        hidden = std::max({hidden, reader.most_pending, writer.most_pending});
        peer.finish();
        ASSERT_TRUE(peer.settle());
        EXPECT_TRUE(reader.ended) << "seed " << seed;
    }
    EXPECT_GT(wakes_for_nothing, 0);
    EXPECT_GT(refused, 30);
    EXPECT_GT(hidden, 0u);
}

TEST(test_stream, bytes_that_a_write_took_in_are_worth_a_read) {
    bool met_armed = false, met_later = false;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const bool armed : {false, true}) {
            loop on;
            test_peer peer(on, unruly_options(seed).spurious_wakes(false));
            auto stream = peer.stream();
            pump reader(*stream, direction::reading), writer(*stream, direction::writing);
            ASSERT_TRUE(writer.out.append_copy("answer"));
            stream->mute(true);  // as long as nobody is woken, nobody reads
            if (armed) stream->arm(direction::reading, &reader);
            peer.send("question");
            stream->try_write(writer.out);
            (armed ? met_armed : met_later) |= stream->pending() > 0;
            stream->mute(false);
            if (!armed) stream->arm(direction::reading, &reader);
            ASSERT_TRUE(peer.settle());
            EXPECT_EQ(reader.in.view(), "question") << "seed " << seed;
        }
    }
    EXPECT_TRUE(met_armed && met_later);
}

TEST(test_stream, tells_late_of_room_but_takes_bytes_when_it_is_asked_to_look_again) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        loop on;
        test_peer peer(on, unruly_options(seed).capacity_bytes(900).spurious_wakes(false));
        auto stream = peer.stream();
        outq out;
        ASSERT_TRUE(out.append_copy(std::string(2000, 'x')));
        while (peer.arrived().size() < 900) stream->try_write(out);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(stream->try_write(out), io::blocked);
        pump writer(*stream, direction::writing);
        stream->arm(direction::writing, &writer);
        peer.take(299);
        ASSERT_TRUE(peer.settle());
        EXPECT_EQ(writer.wakes, 0);
        for (int i = 0; i < 3; ++i) ASSERT_EQ(stream->try_write(out), io::blocked);
        ASSERT_EQ(peer.arrived().size(), 601u);
        stream->recheck_write();
        stream->try_write(out);
        EXPECT_GT(peer.arrived().size(), 601u) << "seed " << seed;
        peer.take(400);
        ASSERT_TRUE(peer.settle());
        EXPECT_EQ(writer.wakes, 1);
    }
}

TEST(test_stream, the_same_seed_behaves_the_same) {
    const auto play = [](std::uint64_t seed) {
        loop on;
        test_peer peer(on, unruly_options(seed));
        auto stream = peer.stream();
        pump reader(*stream, direction::reading);
        reader.go();
        std::string trace;
        for (int i = 0; i < 20; ++i) {
            peer.send("0123456789");
            on.turn(duration::zero());
            trace += std::to_string(reader.in.size()) + ' ' + std::to_string(reader.wakes) + ' ' + std::to_string(stream->pending()) + '\n';
        }
        stream->arm(direction::reading, nullptr);
        reader.unlink();
        return trace;
    };
    EXPECT_EQ(play(5), play(5));
    EXPECT_NE(play(5), play(6));
}

TEST(test_stream, waits_for_the_end_alone_when_asked) {
    loop on;
    test_peer peer(on, unruly_options(4));
    auto stream = peer.stream();
    pump closing(*stream, direction::reading);
    stream->arm(direction::closing, &closing);
    peer.send("not yet");
    ASSERT_TRUE(peer.settle());
    EXPECT_EQ(closing.wakes, 0);
    peer.finish();
    ASSERT_TRUE(peer.settle());
    EXPECT_GE(closing.wakes, 1);
    EXPECT_TRUE(closing.ended);
}

TEST(test_stream, muted_it_queues_nobody) {
    loop on;
    test_peer peer(on);
    auto stream = peer.stream();
    pump reader(*stream, direction::reading);
    stream->mute(true);
    stream->arm(direction::reading, &reader);
    peer.send("x");
    ASSERT_TRUE(peer.settle());
    EXPECT_EQ(reader.wakes, 0);
    stream->mute(false);
    ASSERT_TRUE(peer.settle());
    EXPECT_EQ(reader.in.view(), "x");
}

TEST(test_stream, a_reset_is_seen_by_both_sides) {
    loop on;
    test_peer peer(on);
    auto stream = peer.stream();
    pump reader(*stream, direction::reading);
    reader.go();
    peer.reset();
    EXPECT_TRUE(stream->peer_failed());
    ASSERT_TRUE(peer.settle());
    EXPECT_TRUE(reader.failed);
    EXPECT_TRUE(stream->failure().is_system(ECONNRESET));
    outq out;
    ASSERT_TRUE(out.append_copy("x"));
    EXPECT_EQ(stream->try_write(out), io::failed);

    test_peer other(on);
    auto second = other.stream();
    second->abort();
    EXPECT_TRUE(other.saw_reset());
    EXPECT_TRUE(other.is_closed());
    buffer in(10);
    EXPECT_EQ(second->try_read(in), io::failed);
    EXPECT_EQ(second->failure(), make_error(net_error::stream_closed));
}

TEST(test_stream, a_close_ends_the_stream_and_with_unread_bytes_resets_it) {
    loop on;
    test_peer clean(on, unruly_options::tame());
    auto stream = clean.stream();
    outq out;
    ASSERT_TRUE(out.append_copy("bye"));
    EXPECT_EQ(stream->try_write(out), io::moved);
    stream.reset();
    EXPECT_FALSE(clean.saw_end());
    EXPECT_EQ(clean.take(), "bye");
    EXPECT_TRUE(clean.saw_end());
    EXPECT_FALSE(clean.saw_reset());
    clean.send("anybody?");
    EXPECT_TRUE(clean.saw_reset());

    test_peer unread(on, unruly_options::tame());
    auto second = unread.stream();
    ASSERT_TRUE(out.append_copy("lost"));
    EXPECT_EQ(second->try_write(out), io::moved);
    unread.send("never read");
    second->close();
    EXPECT_TRUE(unread.saw_reset());
    EXPECT_EQ(unread.take(), "");
}

TEST(test_stream, writing_to_one_that_closed_ends_in_a_reset) {
    loop on;
    auto [a, b] = test_pair(on, unruly_options::tame());
    b->close();
    outq out;
    ASSERT_TRUE(out.append_copy("into the void"));
    EXPECT_EQ(a->try_write(out), io::moved);
    EXPECT_TRUE(a->peer_failed());
    ASSERT_TRUE(out.append_copy("more"));
    EXPECT_EQ(a->try_write(out), io::failed);
}

TEST(test_stream, half_closes) {
    loop on;
    auto [a, b] = test_pair(on, unruly_options::tame());
    outq out;
    a->shutdown_write();
    EXPECT_EQ(a->try_write(out), io::moved);
    ASSERT_TRUE(out.append_copy("x"));
    EXPECT_EQ(b->try_write(out), io::moved);
    buffer in(10);
    EXPECT_EQ(a->try_read(in), io::moved);
    EXPECT_EQ(b->try_read(in), io::ended);
    ASSERT_TRUE(out.append_copy("x"));
    EXPECT_EQ(a->try_write(out), io::failed);
    EXPECT_TRUE(a->failure().is_system(EPIPE));
}

TEST(test_stream, has_addresses) {
    loop on;
    auto [a, b] = test_pair(on);
    EXPECT_EQ(a->info().peer().value(), b->info().local().value());
    EXPECT_NE(a->info().peer().value(), b->info().peer().value());
    EXPECT_EQ(&a->owner(), &on);
}

TEST(test_stream, a_file_that_shrank_is_an_error) {
    loop on;
    const testing::test_file file(1000);
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    outq out;
    ASSERT_TRUE(out.append(file.range(0, 1000)));
    file.truncate(100);
    EXPECT_EQ(stream->try_write(out), io::failed);
    EXPECT_EQ(stream->failure(), make_error(net_error::file_shrank));
    EXPECT_EQ(peer.take().size(), 100u);
}

}  // namespace
}  // namespace martlet::net
