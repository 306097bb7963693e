#include <martlet/server/test_client.hpp>

#include <expected>
#include <memory>
#include <new>

#include <martlet/base/scan.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/error_page.hpp>
#include <martlet/wire/http/status.hpp>

namespace martlet::inline v0::server {

namespace {

bool same_name(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

}  // namespace

/// An exchange whose head and answer are strings. For an answer given later there is a second one, as in a server.
class test_exchange final : public exchange {
public:
    enum class form { plain, task, later };

    test_exchange(const test_request& what, test_answer& out, loop& on, form of) noexcept
        : what_(what), out_(out), work_(on.root()), form_(of) {
        method_ = what.method();
        path_ = std::string_view(what.target()).substr(0, what.target().find('?'));
    }
    ~test_exchange() = default;

    std::string_view method_text() const noexcept override { return http::text(method_); }
    std::string_view target() const noexcept override { return what_.target(); }
    std::string_view query() const noexcept override {
        const std::string_view all = what_.target();
        const std::size_t mark = all.find('?');
        return mark == all.npos ? std::string_view() : all.substr(mark + 1);
    }
    std::string_view host() const noexcept override { return field("Host").value_or("test"); }
    std::optional<std::string_view> field(http::field_id id) const noexcept override { return field(http::text(id)); }
    std::optional<std::string_view> field(std::string_view name) const noexcept override {
        for (const auto& [each, value] : what_.fields()) {
            if (same_name(each, name)) return value;
        }
        return std::nullopt;
    }
    std::size_t field_count() const noexcept override { return what_.fields().size(); }
    field_line field_at(std::size_t index) const noexcept override { return {what_.fields()[index].first, what_.fields()[index].second}; }
    net::stream_info info() const noexcept override { return {}; }
    bool has_content() const noexcept override { return !what_.content().empty(); }
    std::optional<std::uint64_t> content_length() const noexcept override {
        return what_.content().empty() ? std::nullopt : std::optional<std::uint64_t>(what_.content().size());
    }
    std::string_view content() const noexcept override {
        return form_ == form::plain ? std::string_view(what_.content()) : std::string_view();
    }
    std::optional<std::string_view> trailer(std::string_view) const noexcept override { return std::nullopt; }

    exchange_errc respond(const response_head& answer, std::string_view content) noexcept override {
        if (status_ != 0 || is_kept()) return exchange_errc::answered_already;
        if (answer.status() < 200 || answer.status() > 599) return exchange_errc::invalid_status;
        status_ = static_cast<std::uint16_t>(answer.status());
        out_.status_ = answer.status();
        out_.type_ = answer.type().id() == http::media::custom ? answer.type().value() : http::text(answer.type().id());
        out_.fields_ = answer.fields();
        if (method_ != http::method::head && !http::forbids_content(answer.status())) out_.content_ = content;
        return exchange_errc::none;
    }
    exchange_errc respond(const response_head& answer, slice content) noexcept override { return respond(answer, content.view()); }
    exchange_errc respond(int status, http::media type, std::string_view content) noexcept override {
        return respond(response_head(status, type), content);
    }
    context* work() noexcept override { return form_ == form::plain ? nullptr : &work_; }

    void reach(local_table& locals) noexcept { locals_ = &locals; }

    /// The handler has asked to answer later.
    bool is_kept() const noexcept { return later_ != nullptr; }
    event& answered_later() noexcept { return later_->let_go_of_; }

protected:
    exchange* keep_open() noexcept override {
        if (form_ != form::plain || is_kept()) return nullptr;
        later_.reset(new (std::nothrow) test_exchange(what_, out_, work_.owner(), form::later));
        return later_.get();
    }
    void let_go() noexcept override { let_go_of_.set(); }

private:
    const test_request& what_;
    test_answer& out_;
    context work_;
    form form_;
    event let_go_of_;
    std::unique_ptr<test_exchange> later_;
};

namespace {

task<void> run_handler(const handler& h, test_exchange& x) {
    request req(x);
    response res(x);
    int status = 500;
    std::string_view detail;
    try {
        if (h.is_plain()) {
            h.run(req, res);
        } else {
            co_await h.start(req, res);
        }
    } catch (const std::bad_expected_access<error>& e) {
        status = e.error().http_status();
        detail = public_detail(e.error());
    } catch (...) {
        // Any other exception is the 500 that a server answers.
        status = 500;
    }
    if (x.is_kept()) {
        auto answered = co_await shield(x.answered_later().wait());
        static_cast<void>(answered);
        co_return;
    }
    if (!x.is_answered()) static_cast<void>(respond_error(x, status, detail));
}

}  // namespace

std::optional<std::string_view> test_answer::field(std::string_view name) const noexcept {
    std::string_view rest = fields_;
    while (!rest.empty()) {
        const std::size_t end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        const std::size_t colon = line.find(": ");
        if (same_name(line.substr(0, colon), name)) return line.substr(colon + 2);
        rest.remove_prefix(end + 2);
    }
    return std::nullopt;
}

test_answer test_client::ask(const test_request& what) {
    test_answer out;
    path_params params;
    const std::string_view path = std::string_view(what.target()).substr(0, what.target().find('?'));
    const routing where = app_.resolve(what.method(), path, params);
    const handler* h = where.run();
    test_exchange x(what, out, loop_, h == nullptr || h->is_plain() ? test_exchange::form::plain : test_exchange::form::task);
    x.params() = params;
    x.reach(locals_);
    if (h == nullptr) {
        response res(x);
        if (!where.allow().empty()) {
            const auto set = res.set(http::field_id::allow, where.allow());
            MARTLET_ASSERT(set.has_value(), "a route's methods make a valid field");
        }
        if (where.status() == 204) {
            res.empty(204);
        } else {
            res.fail(where.status());
        }
        return out;
    }
    loop_.run(run_handler(*h, x));
    return out;
}

}  // namespace martlet::inline v0::server
