#include "store.hpp"

#include <sqlite3.h>

#include <optional>
#include <string_view>

namespace board {

using martlet::failure;
using martlet::result;
using martlet::task;

namespace {

std::string_view text_of(int code) noexcept { return sqlite3_errstr(code); }

martlet::error error_of(int code) noexcept {
    const int plain = code & 0xFF;
    const bool passes = plain == SQLITE_BUSY || plain == SQLITE_FULL || plain == SQLITE_IOERR || plain == SQLITE_NOMEM;
    return martlet::error(sqlite_category, code, martlet::blame::system, passes ? 503 : 500, passes);
}

/// A prepared statement. Each use binds its arguments from 1 on, steps, and resets it.
class statement {
public:
    ~statement() { sqlite3_finalize(of_); }

    int prepare(sqlite3* in, const char* sql) { return sqlite3_prepare_v3(in, sql, -1, SQLITE_PREPARE_PERSISTENT, &of_, nullptr); }
    /// `text` must stay until the statement is reset.
    int bind(int place, const std::string& text) {
        return sqlite3_bind_text64(of_, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int bind(int place, std::int64_t number) { return sqlite3_bind_int64(of_, place, number); }
    /// SQLITE_ROW, SQLITE_DONE or an error.
    int step() { return sqlite3_step(of_); }
    /// Gives the error of the last step again, if there was one.
    int reset() { return sqlite3_reset(of_); }

    std::int64_t number(int column) { return sqlite3_column_int64(of_, column); }
    std::string text(int column) {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(of_, column));
        return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(of_, column)));
    }

private:
    sqlite3_stmt* of_ = nullptr;
};

/// A statement that is not reset holds the file: it is, also when there is no memory for what it found.
class in_use {
public:
    explicit in_use(statement& what) : what_(what) {}
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;
    ~in_use() { what_.reset(); }

private:
    statement& what_;
};

// What is committed is on the disk (synchronous=full). One program uses a file at a time, because the feed tells of its own messages only.
// AUTOINCREMENT never gives an id twice, so that "all after 7" means the same for ever.
constexpr const char* schema = R"sql(
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    pragma synchronous = full;
    create table if not exists message (
        id integer primary key autoincrement,
        posted_at integer not null default (unixepoch()),
        name text not null,
        text text not null
    ) strict;
)sql";

}  // namespace

constinit const martlet::error_category sqlite_category("sqlite", text_of);

class store::database {
public:
    ~database() {
        statements_.reset();
        sqlite3_close(file_);
    }

    /// SQLITE_OK or an error.
    int open(const std::string& file, std::chrono::milliseconds busy_timeout) {
        constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        if (const int opened = sqlite3_open_v2(file.c_str(), &file_, flags, nullptr); opened != SQLITE_OK) return opened;
        sqlite3_extended_result_codes(file_, 1);
        sqlite3_busy_timeout(file_, static_cast<int>(busy_timeout.count()));
        if (sqlite3_db_readonly(file_, "main") == 1) return SQLITE_READONLY;
        if (const int made = sqlite3_exec(file_, schema, nullptr, nullptr, nullptr); made != SQLITE_OK) return made;
        statements& use = statements_.emplace();
        int made = use.add.prepare(file_, "insert into message (name, text) values (?1, ?2) returning id, posted_at");
        if (made == SQLITE_OK)
            made = use.after.prepare(file_, "select id, posted_at, name, text from message where id > ?1 order by id limit ?2");
        if (made == SQLITE_OK)
            made = use.newest.prepare(
                file_, "select * from (select id, posted_at, name, text from message order by id desc limit ?1) order by id");
        return made;
    }
    /// What open() failed with, for a person.
    const char* why(int code) const { return sqlite3_extended_errcode(file_) == code ? sqlite3_errmsg(file_) : sqlite3_errstr(code); }

    result<message> add(const draft& what) {
        statement& insert = statements_->add;
        const in_use ends(insert);
        message made;
        made.name = what.name();
        made.text = what.text();
        int at = insert.bind(1, what.name());
        if (at == SQLITE_OK) at = insert.bind(2, what.text());
        if (at == SQLITE_OK) at = insert.step();
        if (at == SQLITE_ROW) {
            made.id = insert.number(0);
            made.posted_at = insert.number(1);
            at = insert.step();
        }
        // The commit is made by the last step or by the reset, and may fail there.
        const int ended = insert.reset();
        if (at != SQLITE_DONE) return failure(error_of(at));
        if (ended != SQLITE_OK) return failure(error_of(ended));
        return made;
    }

    result<std::vector<message>> after(std::int64_t id, int count_max) {
        statement& select = statements_->after;
        int bound = select.bind(1, id);
        if (bound == SQLITE_OK) bound = select.bind(2, count_max);
        if (bound != SQLITE_OK) return failure(error_of(bound));
        return rows(select);
    }

    result<std::vector<message>> newest(int count_max) {
        statement& select = statements_->newest;
        if (const int bound = select.bind(1, count_max); bound != SQLITE_OK) return failure(error_of(bound));
        return rows(select);
    }

private:
    struct statements {
        statement add, after, newest;
    };

    static result<std::vector<message>> rows(statement& select) {
        const in_use ends(select);
        std::vector<message> found;
        int at = select.step();
        for (; at == SQLITE_ROW; at = select.step()) {
            message& m = found.emplace_back();
            m.id = select.number(0);
            m.posted_at = select.number(1);
            m.name = select.text(2);
            m.text = select.text(3);
        }
        if (at != SQLITE_DONE) return failure(error_of(at));
        return found;
    }

    sqlite3* file_ = nullptr;
    std::optional<statements> statements_;  // finalized before the file is closed
};

store::store() : in_(std::make_unique<database>()), pool_(martlet::blocking_pool_options().threads_max(1)) {}

store::~store() = default;

result<void> store::open(const std::string& file, std::chrono::milliseconds busy_timeout) {
    const int opened = in_->open(file, busy_timeout);
    if (opened == SQLITE_OK) return {};
    what_ = "cannot use " + file + " as the database: " + in_->why(opened);
    return failure(error_of(opened));
}

task<result<message>> store::add(const draft& what) {
    const auto work = [this, &what]() -> result<message> {
        auto made = in_->add(what);
        if (made && told_) told_(*made);
        return made;
    };
    co_return co_await martlet::shield(martlet::run_blocking(pool_, work));
}

task<result<std::vector<message>>> store::after(std::int64_t id, int count_max) {
    const auto work = [this, id, count_max] { return in_->after(id, count_max); };
    co_return co_await martlet::run_blocking(pool_, work);
}

task<result<std::vector<message>>> store::newest(int count_max) {
    const auto work = [this, count_max] { return in_->newest(count_max); };
    co_return co_await martlet::run_blocking(pool_, work);
}

}  // namespace board
