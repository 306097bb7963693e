// Files of a directory: what is found, what is never found, preconditions and ranges. The blocking pool has threads.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <martlet/server/detail/testing_internal.hpp>
#include <martlet/server/files.hpp>
#include <martlet/server/test_client.hpp>

namespace martlet::server {
namespace {

using testing::answers_in;
using testing::bench;
using testing::client;
using testing::get;
using testing::letters;
using testing::summary;
using testing::turn_until;

/// A directory with another beside it, both removed in the end.
class site {
public:
    site() {
        char name[] = "/tmp/martlet-files-XXXXXX";
        base_ = ::mkdtemp(name);
        directory("www");
        directory("www/sub");
        directory("www/.git");
        directory("www/.well-known");
        write("secret.txt", "secret");
        write("www/a.txt", "0123456789");
        write("www/empty", "");
        write("www/big.bin", letters(300'000));
        write("www/space name.html", "<p>");
        write("www/sub/index.html", "index");
        write("www/.git/config", "hidden");
        write("www/.well-known/x", "known");
        link("../secret.txt", "www/out");
        link("a.txt", "www/in");
        link("/etc", "www/etc");
        ::mkfifo((base_ + "/www/pipe").c_str(), 0600);
    }
    site(const site&) = delete;
    site& operator=(const site&) = delete;
    ~site() {
        const std::string all = "rm -rf '" + base_ + "'";
        EXPECT_EQ(std::system(all.c_str()), 0);
    }
    std::string path(std::string_view name) const { return base_ + "/" + std::string(name); }
    void write(std::string_view name, std::string_view content) const {
        std::FILE* out = std::fopen(path(name).c_str(), "wb");
        ASSERT_NE(out, nullptr);
        EXPECT_EQ(std::fwrite(content.data(), 1, content.size(), out), content.size());
        std::fclose(out);
    }

private:
    void directory(std::string_view name) const { EXPECT_EQ(::mkdir(path(name).c_str(), 0700), 0); }
    void link(const char* to, std::string_view name) const { EXPECT_EQ(::symlink(to, path(name).c_str()), 0); }
    std::string base_;
};

TEST(files, are_found_with_their_type_and_marks) {
    const site www;
    router app;
    app.get("/s/*path", files(www.path("www")));
    test_client client(app);
    const test_answer text = client.get("/s/a.txt");
    EXPECT_EQ(text.status(), 200);
    EXPECT_EQ(text.content(), "0123456789");
    EXPECT_EQ(text.content_type(), "text/plain; charset=utf-8");
    EXPECT_TRUE(text.field("ETag").has_value());
    EXPECT_TRUE(text.field("Last-Modified").has_value());
    EXPECT_EQ(text.field("Accept-Ranges"), "bytes");
    EXPECT_EQ(client.get("/s/big.bin").content(), letters(300'000));
    EXPECT_EQ(client.get("/s/empty").status(), 200);
    EXPECT_EQ(client.get("/s/empty").content(), "");
    EXPECT_EQ(client.get("/s/space%20name.html").content(), "<p>");
    EXPECT_EQ(client.get("/s/sub/").content(), "index");
    EXPECT_EQ(client.get("/s/in").content(), "0123456789") << "a link that stays inside";
    EXPECT_EQ(client.get("/s/.well-known/x").content(), "known");
    const test_answer moved = client.get("/s/sub?q=1");
    EXPECT_EQ(moved.status(), 301);
    EXPECT_EQ(moved.field("Location"), "/s/sub/?q=1");
    const test_answer head = client.ask(test_request(http::method::head, "/s/a.txt"));
    EXPECT_EQ(head.status(), 200);
    EXPECT_EQ(head.content(), "");
}

TEST(files, that_are_elsewhere_or_none_are_404) {
    const site www;
    router app;
    app.get("/s/*path", files(www.path("www")));
    test_client client(app);
    for (const char* target :
         {"/s/missing", "/s/../secret.txt", "/s/%2e%2e/secret.txt", "/s/sub/../../secret.txt", "/s/..%2fsecret.txt", "/s/out",
          "/s/etc/passwd", "/s//a.txt", "/s/%2fetc/passwd", "/s/a.txt%00.html", "/s/a.txt/", "/s/.git/config", "/s/sub%2findex.html",
          "/s/..\\secret.txt", "/s/.%2e/secret.txt", "/s/pipe", "/s/", "/s/sub//index.html"}) {
        const test_answer answer = client.get(target);
        EXPECT_EQ(answer.status(), 404) << target;
        EXPECT_EQ(answer.content().find("secret"), std::string::npos) << target;
    }
    EXPECT_EQ(client.get("/s/" + std::string(5000, 'x')).status(), 404);
    EXPECT_THROW(static_cast<void>(files(www.path("nowhere"))), std::system_error);
    EXPECT_THROW(static_cast<void>(files(www.path("secret.txt"))), std::system_error);
}

TEST(files, obey_preconditions) {
    const site www;
    router app;
    app.get("/s/*path", files(www.path("www")));
    test_client client(app);
    const test_answer first = client.get("/s/a.txt");
    const std::string tag(first.field("ETag").value()), date(first.field("Last-Modified").value());
    const auto ask = [&](std::string_view name, std::string_view value) {
        return client.ask(test_request(http::method::get, "/s/a.txt").field(name, value));
    };
    const test_answer same = ask("If-None-Match", "\"x\", " + tag);
    EXPECT_EQ(same.status(), 304);
    EXPECT_EQ(same.content(), "");
    EXPECT_EQ(same.field("ETag"), tag);
    EXPECT_EQ(ask("If-None-Match", "\"other\"").status(), 200);
    EXPECT_EQ(ask("If-Modified-Since", date).status(), 304);
    EXPECT_EQ(ask("If-Match", "\"other\"").status(), 412);
    EXPECT_EQ(ask("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT").status(), 412);
    // Another content is another tag.
    www.write("www/a.txt", "01234567890");
    EXPECT_EQ(ask("If-None-Match", tag).status(), 200);
}

TEST(files, give_ranges) {
    const site www;
    router app;
    app.get("/s/*path", files(www.path("www")));
    test_client client(app);
    const auto ask = [&](std::string_view range) { return client.ask(test_request(http::method::get, "/s/a.txt").field("Range", range)); };
    const test_answer one = ask("bytes=2-4");
    EXPECT_EQ(one.status(), 206);
    EXPECT_EQ(one.content(), "234");
    EXPECT_EQ(one.field("Content-Range"), "bytes 2-4/10");
    EXPECT_EQ(ask("bytes=-3").content(), "789");
    EXPECT_EQ(ask("bytes=7-").content(), "789");
    const test_answer beyond = ask("bytes=10-");
    EXPECT_EQ(beyond.status(), 416);
    EXPECT_EQ(beyond.field("Content-Range"), "bytes */10");
    EXPECT_EQ(ask("lines=1-2").status(), 200);
    EXPECT_EQ(ask("bytes=0-1,3-4,junk").status(), 200);
    const test_answer big = client.ask(test_request(http::method::get, "/s/big.bin").field("Range", "bytes=0-9,200000-200009"));
    EXPECT_EQ(big.status(), 206);
    EXPECT_TRUE(big.content_type().starts_with("multipart/byteranges; boundary="));
    EXPECT_NE(big.content().find("Content-Range: bytes 200000-200009/300000\r\n\r\n" + letters(300'000).substr(200'000, 10)),
              std::string::npos);
    EXPECT_TRUE(big.is_whole());
    // If-Range: what has changed is sent whole.
    const auto changed = client.ask(test_request(http::method::get, "/s/a.txt").field("Range", "bytes=2-4").field("If-Range", "\"old\""));
    EXPECT_EQ(changed.status(), 200);
    const std::string tag(one.field("ETag").value());
    const auto same = client.ask(test_request(http::method::get, "/s/a.txt").field("Range", "bytes=2-4").field("If-Range", tag));
    EXPECT_EQ(same.status(), 206);
    EXPECT_EQ(client.ask(test_request(http::method::head, "/s/a.txt").field("Range", "bytes=2-4")).status(), 200);
}

TEST(files, one_by_its_path) {
    const site www;
    router app;
    app.get("/report", [&](request&, response& res) -> task<> {
        auto sent = co_await res.file(www.path("secret.txt"));
        EXPECT_TRUE(sent.has_value());
    });
    app.get("/none", [&](request&, response& res) -> task<> {
        auto sent = co_await res.file(www.path("none"));
        EXPECT_TRUE(sent.has_value());
    });
    app.get("/cut", [&](request&, response& res) -> task<> {
        auto sent = co_await res.file(www.path(std::string_view("secret.txt\0.png", 15)));
        EXPECT_TRUE(sent.has_value());
    });
    test_client client(app);
    EXPECT_EQ(client.get("/report").content(), "secret");
    EXPECT_EQ(client.get("/none").status(), 404);
    EXPECT_EQ(client.get("/cut").status(), 404);
}

TEST(files, are_exact_on_a_connection) {
    const site www;
    for (const std::size_t size : {0u, 1u, 16'383u, 16'384u, 16'385u, 65'535u, 65'536u, 65'537u, 1'048'576u}) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            bench server;
            www.write("www/sized", letters(size));
            server.app.get("/s/*path", files(www.path("www")));
            client peer(server, (seed == 0 ? net::unruly_options::tame() : net::unruly_options(seed)).capacity_bytes(1 << 22));
            peer.send(get("/s/sized") + get("/s/a.txt") + get("/s/missing"));
            std::string heard;
            EXPECT_TRUE(turn_until(server.on, [&] {
                heard += peer.take();
                return heard.ends_with("\r\n\r\nNot Found");
            }));
            const auto answers = answers_in(heard);
            ASSERT_EQ(answers.size(), 3u) << size;
            EXPECT_EQ(answers[0].content, letters(size));
            EXPECT_EQ(answers[1].content, "0123456789");
        }
    }
}

}  // namespace
}  // namespace martlet::server
