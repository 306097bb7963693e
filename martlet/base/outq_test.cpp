#include <martlet/base/outq.hpp>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <sys/uio.h>

namespace martlet {
namespace {

static_assert(sizeof(const_buffer) == sizeof(iovec) && alignof(const_buffer) == alignof(iovec));
static_assert(offsetof(const_buffer, data) == offsetof(iovec, iov_base) && offsetof(const_buffer, size) == offsetof(iovec, iov_len));
static_assert(sizeof(const_buffer::data) == sizeof(iovec::iov_base) && sizeof(const_buffer::size) == sizeof(iovec::iov_len));
static_assert(sizeof(outq) <= 40);
static_assert(!std::is_copy_constructible_v<outq> && std::is_nothrow_move_constructible_v<outq>);

/// Counts blocks, and fails when it has given `blocks_max`.
class counting_blocks final : public block_source {
public:
    explicit counting_blocks(std::size_t blocks_max = 100'000) : blocks_max_(blocks_max) {}
    ~counting_blocks() { EXPECT_EQ(held, 0u) << "blocks were not given back"; }
    char* allocate_block(std::size_t bytes) noexcept override {
        EXPECT_TRUE(bytes == small_block_bytes || bytes == large_block_bytes) << bytes;
        if (held == blocks_max_) return nullptr;
        ++held;
        ++given;
        return malloc_blocks().allocate_block(bytes);
    }
    void free_block(char* block, std::size_t bytes) noexcept override {
        --held;
        malloc_blocks().free_block(block, bytes);
    }
    void allow(std::size_t blocks_max) { blocks_max_ = blocks_max; }

    std::size_t held = 0;
    std::size_t given = 0;

private:
    std::size_t blocks_max_;
};

/// What a file of the tests holds at `offset`.
char file_byte(std::uint64_t offset) { return static_cast<char>('A' + offset % 26); }

/// All that is queued, as it would be written in pieces of at most `piece` bytes through `vectors` buffers a call.
std::string drain(outq& q, std::size_t piece = 1'000'000, std::size_t vectors = 4) {
    std::string all;
    while (!q.empty()) {
        if (const file_range* file = q.front_file()) {
            std::vector<const_buffer> none(1);
            EXPECT_EQ(q.gather(none), 0u) << "memory before a file range that is at the front";
            const std::size_t n = std::min<std::size_t>(piece, file->length());
            for (std::size_t i = 0; i < n; ++i) all += file_byte(file->offset() + i);
            q.consume(n);
            continue;
        }
        std::vector<const_buffer> out(vectors);
        const std::size_t filled = q.gather(out);
        EXPECT_NE(filled, 0u);
        if (filled == 0) break;
        std::string part;
        for (std::size_t i = 0; i < filled; ++i) {
            EXPECT_NE(out[i].size, 0u);
            part.append(static_cast<const char*>(out[i].data), out[i].size);
        }
        part.resize(std::min(part.size(), piece));
        all += part;
        q.consume(part.size());
    }
    EXPECT_EQ(q.block_bytes_held(), 0u);
    return all;
}

int released;
slice counted_slice(std::string_view text) {
    return slice(text, [](void*) noexcept { ++released; }, nullptr);
}

int closed;
file_range counted_file(std::uint64_t offset, std::uint64_t length) {
    return file_range(file_owner::adopt(5, [](int descriptor, void*) noexcept { closed += descriptor == 5; }).value(), offset, length);
}

TEST(outq, empty_holds_nothing) {
    outq q;
    EXPECT_TRUE(q.empty());
    EXPECT_EQ(q.size(), 0u);
    EXPECT_EQ(q.front_file(), nullptr);
    const_buffer out[2];
    EXPECT_EQ(q.gather(out), 0u);
    q.consume(0);
    q.clear();
    EXPECT_EQ(q.block_bytes_held(), 0u);
}

TEST(outq, pipelined_answers_are_one_piece_of_one_small_block) {
    counting_blocks blocks;
    outq q(blocks);
    const std::string answer(150, 'r');
    for (int i = 0; i < 16; ++i) {
        char* to = q.cork(300);
        ASSERT_NE(to, nullptr);
        std::memcpy(to, answer.data(), answer.size());
        q.commit(answer.size());
    }
    EXPECT_EQ(q.size(), 2400u);
    EXPECT_EQ(blocks.given, 1u);
    EXPECT_EQ(q.block_bytes_held(), 4096u);
    const_buffer out[4];
    ASSERT_EQ(q.gather(out), 1u);
    EXPECT_EQ(out[0].size, 2400u);
    q.consume(2400);
    EXPECT_EQ(blocks.held, 0u);
}

TEST(outq, grows_by_large_blocks_and_frees_each_once_spent) {
    counting_blocks blocks;
    outq q(blocks);
    std::string model;
    for (int i = 0; i < 300; ++i) {
        char* to = q.cork(200);
        ASSERT_NE(to, nullptr);
        std::memset(to, 'a' + i % 26, 200);
        q.commit(200);
        model += std::string(200, static_cast<char>('a' + i % 26));
    }
    EXPECT_EQ(blocks.held, 5u);
    EXPECT_EQ(q.block_bytes_held(), 4096u + 4 * 16384u);
    q.consume(4200);
    EXPECT_EQ(blocks.held, 4u) << "the first block is spent";
    EXPECT_EQ(drain(q, 777), model.substr(4200));
    EXPECT_EQ(blocks.held, 0u);
}

TEST(outq, corks_of_any_size) {
    counting_blocks blocks;
    outq q(blocks);
    std::string model;
    for (const std::size_t n : {1u, 4000u, 4096u, 16'000u, 16'384u, 100'000u, 3u}) {
        char* to = q.cork(n);
        ASSERT_NE(to, nullptr);
        std::memset(to, static_cast<int>('a' + n % 26), n);
        q.commit(n);
        model += std::string(n, static_cast<char>('a' + n % 26));
    }
    EXPECT_EQ(drain(q), model);
}

TEST(outq, one_cork_may_be_committed_in_parts) {
    outq q;
    char* to = q.cork(10);
    std::memcpy(to, "0123456789", 10);
    q.commit(4);
    q.commit(0);
    q.commit(6);
    EXPECT_EQ(drain(q), "0123456789");
}

TEST(outq, a_cork_without_commit_adds_nothing) {
    outq q;
    ASSERT_NE(q.cork(100), nullptr);
    EXPECT_TRUE(q.empty());
    const_buffer out[1];
    EXPECT_EQ(q.gather(out), 0u);
    q.commit(0);
    EXPECT_EQ(q.block_bytes_held(), 0u);
    ASSERT_TRUE(q.append_copy("abc"));
    ASSERT_NE(q.cork(10'000), nullptr);
    q.commit(0);
    EXPECT_EQ(drain(q), "abc");
}

TEST(outq, order_of_all_kinds_is_kept) {
    released = closed = 0;
    counting_blocks blocks;
    outq q(blocks);
    const std::string big(1000, 's');
    ASSERT_TRUE(q.append_copy("head1 "));
    ASSERT_TRUE(q.append(counted_slice(big)));
    ASSERT_TRUE(q.append(counted_slice(big)));
    ASSERT_TRUE(q.append_copy(" head2 "));
    ASSERT_TRUE(q.append(counted_file(3, 500)));
    ASSERT_TRUE(q.append(slice::own(std::string(300, 'o'))));
    ASSERT_TRUE(q.append_copy("end"));
    std::string file;
    for (std::uint64_t i = 3; i < 503; ++i) file += file_byte(i);
    const std::string expected = "head1 " + big + big + " head2 " + file + std::string(300, 'o') + "end";
    EXPECT_EQ(q.size(), expected.size());
    EXPECT_EQ(blocks.given, 1u) << "records stand in the block of the copied bytes";

    const_buffer out[16];
    EXPECT_EQ(q.gather(out), 4u) << "up to the file range";
    EXPECT_EQ(q.front_file(), nullptr);
    q.consume(6 + 1000 - 1);
    EXPECT_EQ(released, 0);
    q.consume(1);
    EXPECT_EQ(released, 1) << "released as soon as spent";
    q.consume(1000 + 7);
    EXPECT_EQ(released, 2);
    ASSERT_NE(q.front_file(), nullptr);
    EXPECT_EQ(q.front_file()->offset(), 3u);
    EXPECT_EQ(q.front_file()->descriptor(), 5);
    q.consume(100);
    EXPECT_EQ(q.front_file()->offset(), 103u);
    EXPECT_EQ(q.front_file()->length(), 400u);
    EXPECT_EQ(closed, 0);
    q.consume(400);
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(drain(q), std::string(300, 'o') + "end");
}

TEST(outq, small_slices_are_copied_and_released_at_once) {
    released = 0;
    outq q;
    ASSERT_TRUE(q.append_copy("a"));
    ASSERT_TRUE(q.append(counted_slice("b")));
    EXPECT_EQ(released, 1);
    ASSERT_TRUE(q.append(counted_slice("")));
    EXPECT_EQ(released, 2);
    ASSERT_TRUE(q.append(slice::of_static("c")));
    const_buffer out[4];
    EXPECT_EQ(q.gather(out), 1u);
    EXPECT_EQ(drain(q), "abc");
}

TEST(outq, clear_releases_all) {
    released = closed = 0;
    const std::string big(1000, 's');
    {
        outq q;
        for (int i = 0; i < 500; ++i) {
            ASSERT_TRUE(q.append(counted_slice(big)));
            ASSERT_TRUE(q.append(counted_file(0, 10)));
        }
        q.clear();
        EXPECT_EQ(released, 500);
        EXPECT_EQ(closed, 500);
        EXPECT_EQ(q.block_bytes_held(), 0u);
        ASSERT_TRUE(q.append(counted_slice(big)));
    }
    EXPECT_EQ(released, 501) << "so does the destructor";
}

TEST(outq, owners_are_shared) {
    const bytes shared = bytes::copy(std::string(1000, 'z')).value();
    outq q;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(q.append(slice(shared)));
    EXPECT_EQ(shared.use_count(), 4u);
    q.consume(1500);
    EXPECT_EQ(shared.use_count(), 3u);
    EXPECT_EQ(drain(q), std::string(1500, 'z'));
    EXPECT_EQ(shared.use_count(), 1u);

    closed = 0;
    {
        const file_owner file = file_owner::adopt(5, [](int, void*) noexcept { ++closed; }).value();
        ASSERT_TRUE(q.append(file_range(file, 0, 10)));
        ASSERT_TRUE(q.append(file_range(file, 100, 10)));
        EXPECT_EQ(file.use_count(), 3u);
    }
    EXPECT_EQ(closed, 0);
    drain(q);
    EXPECT_EQ(closed, 1);
}

TEST(outq, the_limit_is_exact_for_every_way_in) {
    released = closed = 0;
    outq q(malloc_blocks(), 1000);
    EXPECT_EQ(q.cork(1001), nullptr);
    ASSERT_NE(q.cork(1000), nullptr);
    ASSERT_TRUE(q.append_copy(std::string(600, 'x')));
    EXPECT_EQ(q.cork(401), nullptr);
    EXPECT_NE(q.cork(400), nullptr);
    EXPECT_FALSE(q.append_copy(std::string(401, 'x')));
    EXPECT_FALSE(q.append(counted_slice(std::string(401, 'x'))));
    EXPECT_EQ(released, 1) << "what is refused is dropped";
    EXPECT_FALSE(q.append(counted_file(0, 401)));
    EXPECT_FALSE(q.append(counted_file(0, ~std::uint64_t{0}))) << "no overflow";
    EXPECT_EQ(closed, 2);
    EXPECT_FALSE(q.full());
    ASSERT_TRUE(q.append(counted_file(0, 400)));
    EXPECT_TRUE(q.full());
    EXPECT_EQ(q.size(), 1000u);
    EXPECT_FALSE(q.append_copy("x"));
    q.consume(1);
    EXPECT_TRUE(q.append_copy("x"));

    outq other;
    ASSERT_TRUE(other.append_copy(std::string(5000, 'y')));
    q.splice(other);
    EXPECT_EQ(q.size(), 6000u) << "splice looks at no limit";
    EXPECT_EQ(q.cork(1), nullptr);
    EXPECT_FALSE(q.append_copy("x"));
    EXPECT_FALSE(q.append(counted_file(0, 1)));
}

TEST(outq, open_takes_what_is_at_hand_and_nothing_else) {
    pooled_blocks blocks(malloc_pages());
    outq q(blocks);
    q.open();
    EXPECT_EQ(q.block_bytes_held(), 0u) << "nothing was at hand";
    EXPECT_EQ(q.try_cork(10), nullptr);
    ASSERT_TRUE(q.append_copy("first"));
    q.clear();
    q.open();
    if (block_pool::is_from_malloc) {
        EXPECT_EQ(q.block_bytes_held(), 0u);
        return;
    }
    EXPECT_EQ(q.block_bytes_held(), block_source::small_block_bytes);
    EXPECT_TRUE(q.empty());
    EXPECT_EQ(blocks.blocks_used(), 1u);
    q.open();
    EXPECT_EQ(blocks.blocks_used(), 1u) << "one is enough";
    char* room = q.try_cork(4);
    ASSERT_NE(room, nullptr);
    std::memcpy(room, "next", 4);
    q.commit_corked(4);
    EXPECT_EQ(drain(q), "next");
    EXPECT_EQ(blocks.blocks_used(), 0u);
    q.open();
    q.clear();
    EXPECT_EQ(blocks.blocks_used(), 0u) << "an empty queue gives it back";
}

TEST(outq, without_memory_nothing_changes) {
    released = closed = 0;
    const std::string big(100'000, 'b');
    counting_blocks blocks(0);
    outq q(blocks);
    EXPECT_EQ(q.cork(1), nullptr);
    EXPECT_FALSE(q.append_copy("x"));
    EXPECT_FALSE(q.append(counted_slice(big)));
    EXPECT_FALSE(q.append(counted_file(0, 1)));
    EXPECT_EQ(released, 1);
    EXPECT_EQ(closed, 1);
    EXPECT_TRUE(q.empty());

    for (std::size_t allowed = 0; allowed < 8; ++allowed) {
        blocks.allow(allowed);
        outq copied(blocks);
        const bool done = copied.append_copy(big);
        EXPECT_EQ(done, allowed == 7);
        EXPECT_EQ(copied.size(), done ? big.size() : 0);
        if (!done) {
            EXPECT_EQ(blocks.held, 0u);
        }
    }
    blocks.allow(1);
    ASSERT_TRUE(q.append_copy("abc"));
    EXPECT_FALSE(q.append_copy(big));
    EXPECT_EQ(q.cork(10'000), nullptr);
    EXPECT_EQ(drain(q), "abc");
}

TEST(outq, blocks_go_back_to_where_they_came_from) {
    counting_blocks loop_blocks, other_blocks;
    outq q(loop_blocks);
    ASSERT_TRUE(q.append_copy(std::string(4000, 'a')));
    q.use(other_blocks);
    ASSERT_TRUE(q.append_copy(std::string(10'000, 'b')));
    outq from_malloc;
    ASSERT_TRUE(from_malloc.append_copy("ccc"));
    q.splice(from_malloc);
    EXPECT_EQ(loop_blocks.held, 1u);
    EXPECT_EQ(other_blocks.held, 1u);
    EXPECT_EQ(drain(q), std::string(4000, 'a') + std::string(10'000, 'b') + "ccc");
}

TEST(outq, splice_and_move) {
    released = 0;
    const std::string big(1000, 's');
    outq a, b;
    a.splice(b);
    EXPECT_TRUE(a.empty());
    ASSERT_NE(a.cork(5), nullptr);
    ASSERT_TRUE(b.append_copy("b1"));
    ASSERT_TRUE(b.append(counted_slice(big)));
    a.splice(b);
    EXPECT_TRUE(b.empty());
    EXPECT_EQ(b.block_bytes_held(), 0u);
    ASSERT_TRUE(b.append_copy("b2"));
    ASSERT_TRUE(a.append_copy("a1"));
    a.splice(b);
    a.splice(a);
    ASSERT_TRUE(a.append_copy("a2"));
    outq c(std::move(a));
    EXPECT_TRUE(a.empty());
    ASSERT_TRUE(a.append_copy("a3"));
    a = std::move(c);
    EXPECT_EQ(drain(a), "b1" + big + "a1b2a2");
    EXPECT_EQ(released, 1);
}

TEST(outq, gather_stops_where_the_span_ends) {
    outq q;
    const std::string big(300, 's');
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(q.append_copy("x"));
        ASSERT_TRUE(q.append(slice::of_static(big)));
    }
    const_buffer out[32];
    for (std::size_t n = 0; n <= 20; ++n) EXPECT_EQ(q.gather(std::span(out, n)), n);
    EXPECT_EQ(q.gather(out), 20u);
}

TEST(outq, a_failed_slice_is_refused) {
    slice none = slice::of_static("x");
    EXPECT_FALSE(none.failed());
    EXPECT_EQ(slice::own(std::string("text")).view(), "text");
    EXPECT_EQ(slice::own(std::string()).size(), 0u);
    const slice moved = std::move(none);
    EXPECT_EQ(moved.view(), "x");
    EXPECT_EQ(none.size(), 0u);
}

TEST(outq_death_test, misuse_is_named) {
    outq q;
    ASSERT_TRUE(q.append_copy("abc"));
    EXPECT_DEATH(q.consume(4), "at most what the queue holds");
    EXPECT_DEATH(q.commit(5000), "at most what cork gave");
}

TEST(outq, behaves_as_a_string) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        std::minstd_rand random(seed);
        counting_blocks blocks;
        outq q(blocks), side(blocks);
        std::string model;
        for (int step = 0; step < 400; ++step) {
            const std::size_t n = random() % (random() % 8 == 0 ? 40'000u : 600u);
            const std::string text(n, static_cast<char>('a' + step % 26));
            switch (random() % 7) {
            case 0:
                ASSERT_TRUE(q.append_copy(text));
                model += text;
                break;
            case 1: {
                char* to = q.cork(n + 100);
                ASSERT_NE(to, nullptr);
                if (n != 0) std::memcpy(to, text.data(), n);
                q.commit(n);
                model += text;
                break;
            }
            case 2:
                ASSERT_TRUE(q.append(slice::own(std::string(text))));
                model += text;
                break;
            case 3: {
                ASSERT_TRUE(q.append(counted_file(random() % 100, 0)));
                const std::uint64_t offset = random() % 1000;
                ASSERT_TRUE(q.append(counted_file(offset, n)));
                for (std::size_t i = 0; i < n; ++i) model += file_byte(offset + i);
                break;
            }
            case 4:
                ASSERT_TRUE(side.append_copy(text));
                ASSERT_TRUE(side.append(slice::own(std::string(text))));
                q.splice(side);
                model += text + text;
                break;
            default: {
                std::size_t rest = std::min<std::size_t>(random() % 60'000, model.size());
                while (rest != 0) {
                    std::size_t seen = 0;
                    if (const file_range* file = q.front_file()) {
                        seen = std::min<std::size_t>(rest, file->length());
                        for (std::size_t i = 0; i < seen; ++i) ASSERT_EQ(model[i], file_byte(file->offset() + i));
                    } else {
                        const_buffer out[3];
                        std::string part;
                        for (std::size_t i = 0, filled = q.gather(out); i < filled; ++i)
                            part.append(static_cast<const char*>(out[i].data), out[i].size);
                        seen = std::min(rest, part.size());
                        ASSERT_EQ(model.compare(0, seen, part, 0, seen), 0);
                    }
                    ASSERT_NE(seen, 0u);
                    q.consume(seen);
                    model.erase(0, seen);
                    rest -= seen;
                }
            }
            }
            ASSERT_EQ(q.size(), model.size());
        }
        EXPECT_EQ(drain(q), model);
    }
}

}  // namespace
}  // namespace martlet
