#include <martlet/rt/files.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <martlet/rt/blocking_pool.hpp>
#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/martlet-files-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        directory = pattern;
        path = directory + "/file";
    }
    void TearDown() override {
        ::unlink(path.c_str());
        EXPECT_EQ(::rmdir(directory.c_str()), 0);
    }

    std::string directory;
    std::string path;
    blocking_pool pool;
    loop on;
};

TEST_F(Files, WrittenAndReadBack) {
    on.run([&]() -> task<> {
        std::string content;
        for (int i = 0; content.size() < 300'000; ++i) content += std::to_string(i) + '\n';
        const auto written = co_await write_file(pool, path, content);
        EXPECT_TRUE(written);
        const auto read = co_await read_file(pool, path, 1'000'000);
        EXPECT_TRUE(read.value_or("") == content);
        const auto shorter = co_await write_file(pool, path, "short");
        EXPECT_TRUE(shorter);
        const auto again = co_await read_file(pool, path, 5);
        EXPECT_EQ(again, "short");
    }());
}

TEST_F(Files, ReadFileHoldsItsLimit) {
    on.run([&]() -> task<> {
        const auto written = co_await write_file(pool, path, "0123456789");
        EXPECT_TRUE(written);
        const auto fits = co_await read_file(pool, path, 10);
        EXPECT_EQ(fits, "0123456789");
        const auto over = co_await read_file(pool, path, 9);
        EXPECT_FALSE(over);
        EXPECT_TRUE(over.error().is_system(EFBIG));
        // A file of the kernel's own says that its size is 0.
        const auto status = co_await read_file(pool, "/proc/self/status", 100'000);
        EXPECT_TRUE(status);
        EXPECT_GT(status->size(), 100u);
        const auto cut = co_await read_file(pool, "/proc/self/status", 100);
        EXPECT_FALSE(cut);
        EXPECT_TRUE(cut.error().is_system(EFBIG));
        const auto empty = co_await read_file(pool, "/dev/null", 0);
        EXPECT_EQ(empty, "");
    }());
}

TEST_F(Files, FailuresAreToldAsTheSystemTellsThem) {
    on.run([&]() -> task<> {
        const auto missing = co_await read_file(pool, path, 100);
        EXPECT_FALSE(missing);
        EXPECT_TRUE(missing.error().is_system(ENOENT));
        const auto is_directory = co_await read_file(pool, directory, 100);
        EXPECT_FALSE(is_directory);
        EXPECT_TRUE(is_directory.error().is_system(EISDIR));
        const auto nowhere = co_await write_file(pool, directory + "/no/such", "x");
        EXPECT_FALSE(nowhere);
        EXPECT_TRUE(nowhere.error().is_system(ENOENT));
        const auto full = co_await write_file(pool, "/dev/full", "x");
        EXPECT_FALSE(full);
        EXPECT_TRUE(full.error().is_system(ENOSPC));
    }());
}

// The system would take such a name for the shorter one before the NUL.
TEST_F(Files, ANameWithNulIsThatOfNoFile) {
    on.run([&]() -> task<> {
        const auto written = co_await write_file(pool, path, "private");
        EXPECT_TRUE(written);
        const std::string longer = path + std::string("\0.txt", 5);
        const auto read = co_await read_file(pool, longer, 100);
        EXPECT_FALSE(read);
        EXPECT_TRUE(!read && read.error().is_system(ENOENT));
        const auto over = co_await write_file(pool, longer, "public");
        EXPECT_FALSE(over);
        const auto still = co_await read_file(pool, path, 100);
        EXPECT_EQ(still, "private");
    }());
}

TEST_F(Files, PositionsFactsAndAppending) {
    on.run([&]() -> task<> {
        auto opened = co_await file::open(pool, path, file_mode::read_write);
        EXPECT_TRUE(opened);
        file f = std::move(*opened);
        EXPECT_TRUE(f.is_open());
        const auto a = co_await f.write_at("world", 6);
        const auto b = co_await f.write_at("hello ", 0);
        EXPECT_TRUE(a && b);
        const auto facts = co_await f.stat();
        EXPECT_TRUE(facts);
        EXPECT_EQ(facts->size, 11);
        EXPECT_TRUE(facts->is_regular);
        EXPECT_FALSE(facts->is_directory);
        char bytes[32];
        const auto got = co_await f.read_at(bytes, 4);
        EXPECT_EQ(got, 7u);
        EXPECT_EQ(std::string(bytes, 7), "o world");
        const auto end = co_await f.read_at(bytes, 11);
        EXPECT_EQ(end, 0u);
        const auto before = co_await f.write_at("x", -1);
        EXPECT_FALSE(before);
        EXPECT_TRUE(before.error().is_system(EINVAL));
        const auto synced = co_await f.sync();
        EXPECT_TRUE(synced);
        f.close();
        EXPECT_FALSE(f.is_open());

        auto appending = co_await file::open(pool, path, file_mode::append);
        EXPECT_TRUE(appending);
        const auto added = co_await appending->write("!");
        EXPECT_TRUE(added);
        const auto whole = co_await read_file(pool, path, 100);
        EXPECT_EQ(whole, "hello world!");
        const auto forbidden = co_await appending->read_at(bytes, 0);
        EXPECT_FALSE(forbidden);
        EXPECT_TRUE(forbidden.error().is_system(EBADF));
        descriptor given = appending->release();
        EXPECT_TRUE(given.is_open());
    }());
}

TEST_F(Files, CancelledBeforeItStartsNothingIsDone) {
    const auto given =
        trial::cancelled_at(on, trial::moment::before, cancel_reason::peer_gone, [&] { return write_file(pool, path, "never"); }, [] {});
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().reason(), cancel_reason::peer_gone);
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(Files, CancelledAtAnyMomentItIsDoneOrNot) {
    for (int turns = 0; turns < 20; ++turns) {
        ::unlink(path.c_str());
        result<void> given;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([&]() -> task<> { given = co_await write_file(pool, path, "whole"); });
                for (int i = 0; i < turns; ++i) co_await yield();
                s.cancel();
            });
            const auto read = co_await read_file(pool, path, 100);
            EXPECT_EQ(read.has_value(), given.has_value()) << "after " << turns << " turns";
            EXPECT_EQ(read.value_or("whole"), "whole");
        }());
    }
}

}  // namespace
