// Boost.Beast with callbacks on one thread. peer-beast --port N
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional.hpp>
#include <boost/version.hpp>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

// Written anew once a second.
std::string& date() {
    static std::string text;
    static std::time_t written = 0;
    const std::time_t now = std::time(nullptr);
    if (now != written) {
        written = now;
        char room[40];
        std::tm parts{};
        ::gmtime_r(&now, &parts);
        text.assign(room, std::strftime(room, sizeof room, "%a, %d %b %Y %H:%M:%S GMT", &parts));
    }
    return text;
}

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket&& socket) : socket_(std::move(socket)) {}

    void read() {
        request_ = {};
        http::async_read(socket_, buffer_, request_, [self = shared_from_this()](boost::system::error_code code, std::size_t) {
            if (!code) self->answer();
        });
    }

private:
    void answer() {
        response_.emplace();
        response_->version(11);
        response_->result(request_.target() == "/plaintext" ? http::status::ok : http::status::not_found);
        response_->set(http::field::server, "beast");
        response_->set(http::field::date, date());
        response_->set(http::field::content_type, "text/plain");
        response_->body() = "Hello, World!";
        response_->keep_alive(request_.keep_alive());
        response_->prepare_payload();
        http::async_write(socket_, *response_, [self = shared_from_this()](boost::system::error_code code, std::size_t) {
            if (!code && self->response_->keep_alive()) self->read();
        });
    }

    tcp::socket socket_;
    boost::beast::flat_static_buffer<8192> buffer_;
    http::request<http::empty_body> request_;
    boost::optional<http::response<http::string_body>> response_;
};

void accept(tcp::acceptor& from) {
    from.async_accept([&from](boost::system::error_code code, tcp::socket socket) {
        if (!code) {
            socket.set_option(tcp::no_delay(true), code);
            std::make_shared<session>(std::move(socket))->read();
        }
        accept(from);
    });
}

}  // namespace

int main(int count, char** words) {
    if (count != 3 || std::strcmp(words[1], "--port") != 0) {
        std::fputs("usage: peer-beast --port N\n", stderr);
        return 2;
    }
    const auto port = static_cast<unsigned short>(std::atoi(words[2]));
    asio::io_context loop(1);
    asio::signal_set ending(loop, SIGTERM);
    ending.async_wait([](boost::system::error_code, int) { std::_Exit(0); });
    tcp::acceptor acceptor(loop, {asio::ip::make_address("127.0.0.1"), port});
    accept(acceptor);
    std::printf("listening on 127.0.0.1:%d\n", static_cast<int>(port));
    std::fflush(stdout);
    loop.run();
}
