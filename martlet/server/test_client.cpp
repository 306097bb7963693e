#include <martlet/server/test_client.hpp>

#include <expected>
#include <memory>
#include <new>

#include <martlet/base/scan.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/body_sink.hpp>
#include <martlet/server/body_source.hpp>
#include <martlet/server/error_page.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/wire/http/status.hpp>
#include <martlet/wire/uri/percent.hpp>

namespace martlet::inline v0::server {

namespace {

std::optional<std::string_view> value_in(std::string_view lines, std::string_view name) noexcept {
    while (!lines.empty()) {
        const std::size_t end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, end);
        const std::size_t colon = line.find(": ");
        if (scan::equal_ignoring_case(line.substr(0, colon), name)) return line.substr(colon + 2);
        lines.remove_prefix(end + 2);
    }
    return std::nullopt;
}

std::string text_of(outq& from) {
    std::string all;
    const_buffer piece[1];
    while (from.gather(piece) != 0) {
        all.append(static_cast<const char*>(piece[0].data), piece[0].size);
        from.consume(piece[0].size);
    }
    return all;
}

}  // namespace

test_request& test_request::form(std::string_view name, std::string_view value) {
    if (content_.empty()) field("Content-Type", "application/x-www-form-urlencoded");
    if (!content_.empty()) content_ += '&';
    uri::append_encoded(content_, name, uri::component::form);
    content_ += '=';
    uri::append_encoded(content_, value, uri::component::form);
    return *this;
}

/// An exchange whose head and answer are strings. For an answer given later there is a second one, as in a server.
class test_exchange final : public exchange, public body_source, public body_sink {
public:
    enum class form { plain, task, later };

    test_exchange(const test_request& what, test_answer& out, loop& on, blocking_pool& pool, form of, std::uint64_t content_bytes_max,
                  const fixed_points* points) noexcept
        : what_(what), out_(out), work_(on.root()), pool_(pool), form_(of), content_bytes_max_(content_bytes_max), points_(points) {
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
            if (scan::equal_ignoring_case(each, name)) return value;
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
        if (const exchange_errc begun = begin_answer(answer); begun != exchange_errc::none) return begun;
        return finish(content);
    }
    exchange_errc respond(const response_head& answer, slice content) noexcept override { return respond(answer, content.view()); }
    exchange_errc respond(int status, http::media type, std::string_view content) noexcept override {
        return respond(response_head(status, type), content);
    }
    context* work() noexcept override { return form_ == form::plain ? nullptr : &work_; }
    void end_connection() noexcept override {}

    blocking_pool& pool() noexcept override { return pool_; }
    body_source* source() noexcept override { return form_ == form::task ? this : nullptr; }
    pull try_pull(std::string_view& into) noexcept override {
        into = std::exchange(read_, true) ? std::string_view() : std::string_view(what_.content());
        return into.empty() ? pull::ended : pull::piece;
    }
    error failure() const noexcept override { return make_error(exchange_errc::content_waited); }
    std::uint64_t content_bytes_max() const noexcept override { return content_bytes_max_; }

    body_sink* sink() noexcept override { return form_ == form::plain ? nullptr : this; }
    exchange_errc begin(const response_head& head, std::optional<std::uint64_t> length) noexcept override {
        if (const exchange_errc begun = begin_answer(head); begun != exchange_errc::none) return begun;
        open_ = true;
        out_.whole_ = false;
        left_ = filter_ == nullptr ? length : std::nullopt;
        return exchange_errc::none;
    }
    exchange_errc put(std::string_view content) noexcept override {
        if (!open_) return exchange_errc::stream_ended;
        if (left_ && content.size() > *left_) return exchange_errc::content_too_long;
        if (left_) *left_ -= content.size();
        return add(content, false);
    }
    exchange_errc put(slice content) noexcept override { return put(content.view()); }
    exchange_errc put(file_range content) noexcept override {
        std::string bytes(static_cast<std::size_t>(content.length()), '\0');
        std::size_t done = 0;
        descriptor file(content.descriptor());
        while (done < bytes.size()) {
            const std::ptrdiff_t got =
                kernel::file_read_at(file, bytes.data() + done, bytes.size() - done, static_cast<std::int64_t>(content.offset() + done));
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        // Only borrowed.
        static_cast<void>(file.release());
        return done == bytes.size() ? put(std::string_view(bytes)) : exchange_errc::content_too_short;
    }
    exchange_errc end(std::string_view trailers) noexcept override {
        if (!open_) return exchange_errc::stream_ended;
        open_ = false;
        if (left_ && *left_ != 0 && method_ != http::method::head) return exchange_errc::content_too_short;
        if (filter_ != nullptr) {
            if (const exchange_errc last = add({}, true); last != exchange_errc::none) return last;
        }
        out_.trailers_ = trailers;
        out_.whole_ = true;
        return exchange_errc::none;
    }
    exchange_errc upgrade(std::string_view, std::string_view) noexcept override { return exchange_errc::not_upgradable; }
    net::byte_stream* taken_stream(std::string_view&) noexcept override { return nullptr; }
    bool is_open() const noexcept override { return open_; }
    std::size_t queued_bytes() const noexcept override { return 0; }
    std::size_t queued_bytes_max() const noexcept override { return 0; }
    void is_event_stream() noexcept override {}
    void break_off() noexcept { open_ = false; }

    const fixed_points* points() const noexcept { return points_; }
    void tell_end(const route* to) noexcept {
        if (points_ == nullptr) return;
        request req(*this);
        exchange_end end(out_.whole_ ? outcome::answered : outcome::cut_off, out_.status_);
        end.to(to).bytes(what_.content().size(), out_.content_.size());
        points_->on_end(req, end);
    }
    void reach(local_table& locals) noexcept { locals_ = &locals; }

    /// The handler has asked to answer later.
    bool is_kept() const noexcept override { return later_ != nullptr; }
    event& answered_later() noexcept { return later_->let_go_of_; }

protected:
    exchange* keep_open() noexcept override {
        if (form_ != form::plain || is_kept()) return nullptr;
        later_.reset(new (std::nothrow) test_exchange(what_, out_, work_.owner(), pool_, form::later, content_bytes_max_, points_));
        return later_.get();
    }
    void let_go() noexcept override {
        open_ = false;
        let_go_of_.set();
    }
    void awaited(bool) noexcept override {}

private:
    exchange_errc begin_answer(const response_head& answer) noexcept {
        if (status_ != 0 || is_kept()) return exchange_errc::answered_already;
        if (answer.status() < 200 || answer.status() > 599) return exchange_errc::invalid_status;
        field_block fields;
        if (!fields.add_lines(answer.fields())) return exchange_errc::no_memory;
        answer_head head(answer.status(), answer.type(), fields);
        if (points_ != nullptr && !asked_) {
            asked_ = true;
            request req(*this);
            if (!points_->on_head(req, head)) return exchange_errc::not_answered;
            if (points_->has_filter() && !http::forbids_content(head.status())) filter_ = points_->filter(req, head);
        }
        status_ = static_cast<std::uint16_t>(head.status());
        out_.status_ = head.status();
        out_.type_ = head.type().id() == http::media::custom ? head.type().value() : http::text(head.type().id());
        out_.fields_ = fields.view();
        return exchange_errc::none;
    }
    exchange_errc finish(std::string_view content) noexcept { return add(content, true); }
    exchange_errc add(std::string_view content, bool last) noexcept {
        if (method_ == http::method::head || http::forbids_content(status_)) return exchange_errc::none;
        if (filter_ == nullptr) {
            out_.content_ += content;
            return exchange_errc::none;
        }
        outq filtered;
        const bool whole = (content.empty() || filter_->put(content, filtered)) && (!last || filter_->end(filtered));
        if (!whole) return exchange_errc::not_answered;
        out_.content_ += text_of(filtered);
        return exchange_errc::none;
    }

    const test_request& what_;
    test_answer& out_;
    context work_;
    blocking_pool& pool_;
    form form_;
    std::uint64_t content_bytes_max_;
    const fixed_points* points_;
    std::unique_ptr<body_filter> filter_;
    std::optional<std::uint64_t> left_;
    bool read_ = false;
    bool open_ = false;
    bool asked_ = false;
    event let_go_of_;
    std::unique_ptr<test_exchange> later_;
};

namespace {

task<void> run_handler(const handler& h, test_exchange& x) {
    request req(x);
    response res(x);
    int status = 500;
    bool failed = true;
    std::string_view detail;
    try {
        const bool stopped = x.points() != nullptr && x.points()->before(req, res);
        if (stopped) {
        } else if (h.is_plain()) {
            h.run(req, res);
        } else {
            co_await h.start(req, res);
        }
        failed = false;
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
    if (x.is_open() && !failed) static_cast<void>(x.end({}));
    x.break_off();
    // Fields that were set are the handler's.
    if (!x.is_answered()) static_cast<void>(respond_error(x, status, detail));
}

}  // namespace

std::optional<std::string_view> test_answer::field(std::string_view name) const noexcept { return value_in(fields_, name); }

std::optional<std::string_view> test_answer::trailer(std::string_view name) const noexcept { return value_in(trailers_, name); }

test_answer test_client::ask(const test_request& what) {
    test_answer out;
    path_params params;
    const std::string_view path = std::string_view(what.target()).substr(0, what.target().find('?'));
    const routing where = app_.resolve(what.method(), path, params);
    const handler* h = where.run();
    const route_options how = h != nullptr ? where.to()->options(what.method()) : route_options();
    const std::uint64_t bytes_max = how.body_bytes_max().value_or(limits().body_bytes_max());
    test_exchange x(what, out, loop_, pool_, h == nullptr || h->is_plain() ? test_exchange::form::plain : test_exchange::form::task,
                    bytes_max, where.points());
    x.params() = params;
    if (h != nullptr && !how.ignores_body() && what.content().size() > bytes_max) {
        response(x).fail(413);
        x.tell_end(where.to());
        return out;
    }
    x.reach(locals_);
    if (h == nullptr) {
        request req(x);
        response res(x);
        if (where.points() != nullptr && where.points()->before(req, res)) {
            x.tell_end(where.to());
            return out;
        }
        if (!where.allow().empty()) {
            const auto set = res.set(http::field_id::allow, where.allow());
            MARTLET_ASSERT(set.has_value(), "a route's methods make a valid field");
        }
        if (where.status() == 204) {
            res.empty(204);
        } else {
            res.fail(where.status());
        }
        x.tell_end(where.to());
        return out;
    }
    loop_.run(run_handler(*h, x));
    x.tell_end(where.to());
    return out;
}

}  // namespace martlet::inline v0::server
