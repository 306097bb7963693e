// bench-rows: the library as applications use it, one route for each thing that is measured: JSON, files, a form, a stream.
#include <unistd.h>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <martlet/rt.hpp>
#include <martlet/server.hpp>

using namespace martlet;
using server::request;
using server::response;

namespace {

/// A directory of its own under that for temporary files, removed at the end, with the files that are served.
class served_files {
public:
    served_files() {
        std::string name = (std::filesystem::temp_directory_path() / "martlet-bench-rows-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
        directory_ = name;
        write("4k.txt", 4096);
        write("64k.txt", 65536);
    }
    ~served_files() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    served_files(const served_files&) = delete;
    served_files& operator=(const served_files&) = delete;
    std::string path(const char* name) const { return (directory_ / name).string(); }

private:
    void write(const char* name, std::size_t bytes) const {
        std::string content;
        while (content.size() < bytes) content += "The quick brown fox jumps over the lazy dog, and this is one line of it.\n";
        content.resize(bytes);
        std::ofstream(directory_ / name, std::ios::binary) << content;
    }

    std::filesystem::path directory_;
};

struct item {
    std::uint32_t id;
    std::string name;
    double price;
    bool in_stock;
};

/// The library writes no JSON: this does what a program that knows its object would, into room that lasts.
class json_writer {
public:
    std::string_view write(const item& of) {
        text_.clear();
        text_ += R"({"id":)";
        number(of.id);
        text_ += R"(,"name":)";
        string(of.name);
        text_ += R"(,"price":)";
        number(of.price);
        text_ += of.in_stock ? R"(,"in_stock":true})" : R"(,"in_stock":false})";
        return text_;
    }

private:
    template <class Number>
    void number(Number value) {
        char digits[32];
        text_.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
    }
    void string(std::string_view value) {
        text_ += '"';
        for (const char c : value) {
            if (c == '"' || c == '\\') {
                text_ += '\\';
                text_ += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                constexpr char digits[] = "0123456789abcdef";
                text_ += "\\u00";
                text_ += digits[c >> 4];
                text_ += digits[c & 15];
            } else {
                text_ += c;
            }
        }
        text_ += '"';
    }

    std::string text_;
};

task<> stream(request&, response& res) {
    static const std::string piece(1024, 's');
    auto body = res.stream(200, http::media::text);
    for (int i = 0; i < 8; ++i) {
        auto sent = co_await body.send(std::string_view(piece));
        if (!sent) co_return;
    }
}

int serve(const std::string& port) {
    const served_files folder;
    const item lamp{4711, "A \"small\" lamp, brass", 24.95, true};
    json_writer writer;
    server::router app;
    app.get("/plaintext", [](request&, response& res) { res.text(200, "Hello, World!"); });
    app.get("/json", [&](request&, response& res) { res.json(200, writer.write(lamp)); });
    // Not server::files(): callgrind does not know the system call by which that stays below its directory.
    for (const char* name : {"4k.txt", "64k.txt"}) {
        app.get(std::string("/file/") + name, [path = folder.path(name)](request&, response& res) -> task<> {
            auto answered = co_await res.file(path);
            if (!answered) co_return;
        });
    }
    app.post("/form", [](request& req, response& res) {
        const auto form = req.form();
        if (!form) return res.fail(form.error().http_status());
        char digits[24];
        res.text(200, std::string_view(digits, std::to_chars(std::begin(digits), std::end(digits), form->size()).ptr));
    });
    app.get("/stream", stream);
    return server::run(app, server::options("127.0.0.1:" + port));
}

}  // namespace

int main(int argc, char** argv) {
    std::string port = "8080";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
            port = argv[++i];
        } else {
            const bool asked = std::strcmp(argv[i], "--help") == 0;
            std::fprintf(asked ? stdout : stderr,
                         "bench-rows [--port N]: GET /plaintext, /json, /file/4k.txt, /file/64k.txt and /stream, POST /form on 127.0.0.1, "
                         "one thread.\n");
            return asked ? 0 : 2;
        }
    }
    return serve(port);
}
