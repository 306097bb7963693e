#include <martlet/server/files.hpp>

#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <martlet/base/slice.hpp>
#include <martlet/rt/blocking_pool.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/wall_clock.hpp>
#include <martlet/server/request.hpp>
#include <martlet/server/response.hpp>
#include <martlet/wire/http/conditional.hpp>
#include <martlet/wire/http/date.hpp>
#include <martlet/wire/http/etag.hpp>
#include <martlet/wire/http/media_table.hpp>
#include <martlet/wire/http/range.hpp>
#include <martlet/wire/http/status.hpp>
#include <martlet/wire/uri/percent.hpp>

namespace martlet::inline v0::server {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::string_view index_name = "index.html";

/// An open file and what is known of it.
class opened {
public:
    opened(descriptor file, const kernel::file_facts& facts) noexcept : file_(std::move(file)), facts_(facts) {}
    descriptor& file() noexcept { return file_; }
    const kernel::file_facts& facts() const noexcept { return facts_; }
    std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(facts_.size); }

private:
    descriptor file_;
    kernel::file_facts facts_;
};

// On a thread of the pool.
result<opened> with_facts(int number) {
    if (number < 0) return failure(error::system(-number));
    descriptor file(number);
    kernel::file_facts facts{};
    const int known = kernel::file_stat(file, &facts);
    if (known < 0) return failure(error::system(-known));
    return opened(std::move(file), facts);
}

result<opened> open_now(const std::string& path) {
    // The system would read the name up to there, and open another file.
    if (path.find('\0') != path.npos) return failure(error::system(ENOENT));
    int number;
    do {
        number = kernel::file_open(path.c_str(), kernel::open_mode::read);
    } while (number == -EINTR);
    return with_facts(number);
}

result<opened> open_below_now(const descriptor& directory, const std::string& path) {
    int number;
    do {
        number = kernel::file_open_beneath(directory, path.c_str());
    } while (number == -EINTR || number == -EAGAIN);
    return with_facts(number);
}

/// The plain path below a directory that `sent` names; nothing when a part of it is not to be served.
std::optional<std::string> plain_path(std::string_view sent) {
    std::string all;
    while (!sent.empty()) {
        const std::string_view raw = sent.substr(0, sent.find('/'));
        const bool last = raw.size() == sent.size();
        sent.remove_prefix(last ? raw.size() : raw.size() + 1);
        const auto name = uri::decode(raw);
        if (!name || name->empty() || name->find('/') != name->npos || name->find('\\') != name->npos || name->find('\0') != name->npos)
            return std::nullopt;
        if (name->front() == '.' && *name != ".well-known") return std::nullopt;
        all += *name;
        if (!last) all += '/';
    }
    return all;
}

/// All lines of a field that is a list.
std::optional<std::string> joined(const request& req, http::field_id id) {
    std::optional<std::string> all;
    for (std::size_t i = 0; i < req.field_count(); ++i) {
        const field_line line = req.field_at(i);
        if (http::field_id_of(line.name) != id) continue;
        if (all) {
            *all += ", ";
            *all += line.value;
        } else {
            all.emplace(line.value);
        }
    }
    return all;
}

std::string hexadecimal(std::uint64_t number) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), digits[number & 15]);
        number >>= 4;
    } while (number != 0);
    return text;
}

void close_file(int number, void*) noexcept { const descriptor closed(number); }

int status_of(const error& why) noexcept {
    for (const int no_file : {ENOENT, ENOTDIR, EXDEV, ELOOP, ENAMETOOLONG, EACCES, EPERM, ENXIO}) {
        if (why.is_system(no_file)) return 404;
    }
    return why.is_system(EMFILE) || why.is_system(ENFILE) || why.is_system(ENOMEM) ? 503 : why.http_status();
}

/// What is sent of a file: pieces of it, and what stands before each.
class sending {
public:
    sending() noexcept {}
    int status = 200;
    http::content_type type;
    std::uint64_t length = 0;
    std::vector<http::byte_range> ranges;
    std::vector<std::string> before;  // each piece
    std::string behind;
};

task<result<void>> send_pieces(response& res, file_owner file, sending what) {
    body_writer body = res.stream(what.status, what.type, what.length);
    if (const auto begun = body.begun(); !begun) co_return failure(begun.error());
    for (std::size_t i = 0; i < what.ranges.size(); ++i) {
        if (!what.before.empty()) {
            auto head = co_await body.send(what.before[i]);
            if (!head) co_return failure(head.error());
        }
        auto sent = co_await body.send(file_range(file, what.ranges[i].first(), what.ranges[i].bytes()));
        if (!sent) co_return failure(sent.error());
    }
    if (!what.behind.empty()) {
        auto end = co_await body.send(what.behind);
        if (!end) co_return failure(end.error());
    }
    co_return body.end();
}

// RFC 9110 section 15.3.7: one range is sent as it is, several as parts.
void divide(sending& what, const http::range_set& asked, std::uint64_t bytes, std::string_view type, std::string& boundary_type,
            std::string& content_range) {
    what.status = 206;
    what.ranges.assign(asked.ranges().begin(), asked.ranges().end());
    if (what.ranges.size() == 1) {
        http::append_content_range(content_range, what.ranges.front(), bytes);
        what.length = what.ranges.front().bytes();
        return;
    }
    unsigned char random[12];
    kernel::random_bytes(random, sizeof random);
    std::string boundary;
    for (const unsigned char each : random) boundary += hexadecimal(0x100u | each).substr(1);
    const auto token = http::token::make(boundary);
    const auto part_type = http::field_value::make(type);
    const http::byteranges_frame frame(*token, *part_type, bytes);
    boundary_type = frame.content_type();
    for (const http::byte_range each : what.ranges) {
        what.before.emplace_back();
        frame.append_part_head(what.before.back(), each);
    }
    frame.append_end(what.behind);
    what.length = frame.content_bytes(what.ranges);
}

void set(response& res, http::field_id id, std::string_view value) {
    // Made here, so valid; without memory for it the answer goes without.
    static_cast<void>(res.set(id, value));
}

task<result<void>> send_file(request& req, response& res, opened from, std::string name) {
    const std::int64_t now = wall_clock_ns() / second_ns;
    const std::int64_t modified = from.facts().modified_ns / second_ns;
    const std::string opaque = hexadecimal(static_cast<std::uint64_t>(from.facts().modified_ns)) + "-" + hexadecimal(from.bytes());
    const auto tag = http::etag::strong(opaque);
    char date[http::date_bytes];
    http::write_date(date, modified);
    set(res, http::field_id::etag, tag->text());
    set(res, http::field_id::last_modified, std::string_view(date, sizeof date));
    set(res, http::field_id::accept_ranges, "bytes");

    const auto match = joined(req, http::field_id::if_match);
    const auto none_match = joined(req, http::field_id::if_none_match);
    http::condition_fields fields;
    fields.if_match(match).if_none_match(none_match).if_modified_since(req.field(http::field_id::if_modified_since));
    fields.if_unmodified_since(req.field(http::field_id::if_unmodified_since)).if_range(req.field(http::field_id::if_range));
    http::representation current;
    current.etag(*tag).last_modified(modified);
    const http::condition judged = http::evaluate(req.method(), fields, current, now);
    if (judged == http::condition::not_modified || judged == http::condition::failed) {
        res.empty(judged == http::condition::not_modified ? 304 : 412);
        co_return result<void>();
    }

    sending what;
    what.type = http::content_type_of_file(name);
    what.length = from.bytes();
    if (what.length != 0) what.ranges.emplace_back(0, what.length - 1);
    std::string boundary_type, content_range;
    const auto range = req.field(http::field_id::range);
    if (range && judged == http::condition::proceed && req.method() == http::method::get) {
        const http::range_set asked = http::range_set::parse(*range, from.bytes());
        if (asked.outcome() == http::range_outcome::unsatisfiable) {
            http::append_unsatisfied_range(content_range, from.bytes());
            set(res, http::field_id::content_range, content_range);
            res.empty(416);
            co_return result<void>();
        }
        if (asked.outcome() == http::range_outcome::satisfiable) {
            const std::string type(what.type.id() == http::media::custom ? what.type.value() : http::text(what.type.id()));
            divide(what, asked, from.bytes(), type, boundary_type, content_range);
        }
    }
    if (!content_range.empty()) set(res, http::field_id::content_range, content_range);
    const auto parts_type = http::field_value::make(boundary_type);
    if (!boundary_type.empty()) what.type = http::content_type(*parts_type);
    const int number = from.file().release();
    auto owner = file_owner::adopt(number, &close_file);
    if (!owner) {
        close_file(number, nullptr);
        co_return failure(owner.error());
    }
    auto sent = co_await send_pieces(res, *owner, std::move(what));
    co_return sent;
}

/// A directory that files are served from.
class root {
public:
    explicit root(const std::string& path) {
        const int number = kernel::file_open(path.c_str(), kernel::open_mode::read);
        if (number < 0) throw std::system_error(-number, std::generic_category(), "files: \"" + path + "\" cannot be opened");
        directory_ = descriptor(number);
        kernel::file_facts facts{};
        if (kernel::file_stat(directory_, &facts) < 0 || !facts.is_directory)
            throw std::system_error(ENOTDIR, std::generic_category(), "files: \"" + path + "\" is no directory");
    }
    const descriptor& directory() const noexcept { return directory_; }

private:
    descriptor directory_;
};

task<> serve(std::shared_ptr<const root> from, request& req, response& res) {
    auto path = plain_path(req.rest());
    if (!path) {
        res.fail(404);
        co_return;
    }
    const bool directory = path->empty() || path->back() == '/';
    if (directory) *path += index_name;
    auto found = co_await run_blocking(res.pool(), [&from, &path] { return open_below_now(from->directory(), *path); });
    if (found && found->facts().is_directory && !directory) {
        std::string target(req.path());
        target += '/';
        if (!req.query().empty()) target += "?" + std::string(req.query());
        // A path that begins with two slashes would be another host.
        while (target.starts_with("//")) target.erase(0, 1);
        set(res, http::field_id::location, target);
        res.empty(301);
        co_return;
    }
    if (!found || !found->facts().is_regular) {
        const int status = found ? 404 : status_of(found.error());
        res.fail(status);
        co_return;
    }
    auto sent = co_await send_file(req, res, std::move(*found), *path);
    if (!sent && !res.is_answered()) res.fail(sent.error().http_status());
}

}  // namespace

task<result<void>> response::file(std::string path) {
    request req(*of_);
    auto found = co_await run_blocking(pool(), [&path] { return open_now(path); });
    if (!found || !found->facts().is_regular) {
        const int status = found ? 404 : status_of(found.error());
        text(status, http::reason(status));
        co_return result<void>();
    }
    auto sent = co_await send_file(req, *this, std::move(*found), path);
    co_return sent;
}

handler files(const std::string& directory) {
    auto from = std::make_shared<const root>(directory);
    return handler([from](request& req, response& res) -> task<> { return serve(from, req, res); });
}

}  // namespace martlet::inline v0::server
