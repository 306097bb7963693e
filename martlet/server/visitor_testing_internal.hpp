// A client of the storm: what it sends, how, when it leaves, and whether what it heard is what it may hear.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/storm_testing_internal.hpp>

namespace martlet::server::testing {

/// What a run has that excuses more than a client's own doings.
class weather {
public:
    bool faults = false;    ///< errors of the system and failed allocations
    bool tight = false;     ///< small limits and short timeouts
    bool stopping = false;  ///< the server stops meanwhile
    bool no_later = false;  ///< a loop that may be taken answers nothing later
    std::uint32_t requests_max = 0;
    std::uint64_t body_bytes_max = 0;

    bool is_calm() const noexcept { return !faults && !tight && !stopping; }
};

/// One request, and how it goes over the wire.
class asked {
public:
    asked(dice& draws, std::uint64_t number, form what) : what(what) {
        target = std::string(form_paths[static_cast<std::size_t>(what)]) + "?" + std::to_string(number);
        const bool takes_content = what >= form::pulls && what <= form::echo;
        has_content = what != form::upgrade && (takes_content || draws.one_in(12));
        old = what != form::upgrade && draws.one_in(12);
        to_head = !has_content && what != form::upgrade && what != form::no_method && draws.one_in(10);
        says_close = what != form::upgrade && draws.one_in(15);
        expects = has_content && !old && draws.one_in(6);
        if (has_content) {
            constexpr std::size_t sizes[] = {1, 50, 3000, 20'000};
            content = letters(draws.below(sizes[draws.below(std::size(sizes))]));
            for (char& each : content) each = static_cast<char>(each ^ static_cast<char>(number % 7));
            is_chunked = !old && draws.one_in(2);
        }
        std::string fields = "Host: example.com\r\n";
        if (says_close) fields += "Connection: close\r\n";
        if (old && !says_close && draws.one_in(2)) {
            fields += "Connection: keep-alive\r\n";
            keeps_old = true;
        }
        if (expects) fields += "Expect: 100-continue\r\n";
        if (what == form::upgrade) fields += "Connection: Upgrade\r\nUpgrade: " + std::string(protocol) + "\r\n";
        if (is_chunked) fields += "Transfer-Encoding: chunked\r\n";
        if (has_content && !is_chunked) fields += "Content-Length: " + std::to_string(content.size()) + "\r\n";
        const char* const method = to_head ? "HEAD" : what == form::no_method ? "DELETE" : has_content ? "POST" : "GET";
        head = std::string(method) + " " + target + (old ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n") + fields + "\r\n";
        behind = is_chunked ? chunked(draws) : content;
        if (what == form::upgrade) behind = letters(draws.below(3000));
    }
    std::string wire() const { return head + behind; }
    bool ends_itself() const noexcept { return says_close || (old && !keeps_old); }

    form what;
    std::string target;
    std::string content;
    std::string head;
    std::string behind;
    bool has_content = false;
    bool is_chunked = false;
    bool old = false;
    bool keeps_old = false;
    bool to_head = false;
    bool says_close = false;
    bool expects = false;

private:
    std::string chunked(dice& draws) const {
        std::string all;
        for (std::size_t at = 0; at < content.size();) {
            const std::size_t size = std::min<std::size_t>(1 + draws.below(2000), content.size() - at);
            char line[40];
            std::snprintf(line, sizeof line, draws.one_in(5) ? "%zX;name=value\r\n" : "%zx\r\n", size);
            all += line + content.substr(at, size) + "\r\n";
            at += size;
        }
        return all + (draws.one_in(4) ? "0\r\nCheck: whole\r\n\r\n" : "0\r\n\r\n");
    }
};

/// An answer, or the beginning of one.
class heard {
public:
    enum class extent : std::uint8_t {
        none,         ///< not even a head
        whole,        ///< told by its framing
        until_close,  ///< as whole as the end of the connection says
        cut,          ///< the framing says that there is more
    };

    /// Takes one off `rest`.
    static heard take(std::string_view& rest, bool to_head) {
        heard one;
        const std::size_t end = rest.find("\r\n\r\n");
        if (end == rest.npos) return one;
        one.head.head = rest.substr(0, end + 2);
        if (!one.head.head.starts_with("HTTP/1.1 ")) {
            ADD_FAILURE() << "no answer: " << rest.size() << " " << rest.substr(0, 100) << " ... "
                          << rest.substr(rest.size() > 100 ? rest.size() - 100 : 0);
            return one;
        }
        one.status = std::atoi(one.head.head.c_str() + 9);
        rest.remove_prefix(end + 4);
        one.take_content(rest, to_head);
        return one;
    }
    bool closes() const { return head.closes(); }

    int status = 0;
    wire_answer head;
    std::string content;
    extent how = extent::none;

private:
    void take_content(std::string_view& rest, bool to_head) {
        const std::string length = head.field("Content-Length");
        how = extent::whole;
        // What is answered before the head was whole does not know the method.
        if (to_head && (status == 400 || status == 408 || status == 503) && !rest.starts_with("HTTP/1.1 ")) to_head = false;
        if (status < 200 || status == 204 || status == 304 || to_head) return;
        if (head.field("Transfer-Encoding") == "chunked") return take_chunks(rest);
        if (length == "<none>") {
            how = extent::until_close;
            content = std::exchange(rest, {});
            return;
        }
        const std::size_t size = std::stoul(length);
        if (rest.size() < size) how = extent::cut;
        content = rest.substr(0, size);
        rest.remove_prefix(content.size());
    }
    void take_chunks(std::string_view& rest) {
        how = extent::cut;
        for (;;) {
            const std::size_t line = rest.find("\r\n");
            if (line == rest.npos) break;
            char* behind = nullptr;
            const std::string digits(rest.substr(0, line));
            const std::size_t size = std::strtoul(digits.c_str(), &behind, 16);
            if (digits.empty() || *behind != '\0') {
                ADD_FAILURE() << "no chunk: " << digits.substr(0, 100);
                break;
            }
            if (size == 0) {
                const std::size_t end = rest.find("\r\n\r\n", line);
                if (end == rest.npos) break;
                rest.remove_prefix(end + 4);
                how = extent::whole;
                return;
            }
            const std::string_view data = rest.substr(line + 2, size);
            content += data;
            if (rest.size() < line + 2 + size + 2) break;
            if (rest.substr(line + 2 + size, 2) != "\r\n") {
                ADD_FAILURE() << "a chunk does not end where it says";
                break;
            }
            rest.remove_prefix(line + 2 + size + 2);
        }
        rest = {};
    }
};

/// One client. What it does is drawn when it is made, and judged once all is quiet.
class visitor {
public:
    visitor(dice& draws, std::string_view address, std::uint64_t& numbers, bool patient)
        : is_unix_(address.starts_with("unix:")), peer_(address) {
        draw_requests(draws, numbers);
        std::string bytes;
        std::vector<std::size_t> ends;
        for (const asked& each : asked_) {
            bytes += each.wire();
            ends.push_back(bytes.size());
        }
        draw_end(draws, bytes, patient);
        while (complete_ < ends.size() && ends[complete_] <= bytes.size()) ++complete_;
        if (talks_nonsense_) bytes += "nonsense\r\n\r\n";
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            sends_surplus_ |= asked_[i].ends_itself() && (i + 1 < asked_.size() || talks_nonsense_);
        }
        send(draws, bytes, patient);
        draw_reading(draws);
        if (draws.one_in(12)) leave_at(draws.time_below(std::chrono::milliseconds(60)), draws.one_in(2));
    }

    /// Closes when the server does, as clients should.
    void be_polite() {
        peer_.on_change([](sim::peer& self) {
            if (self.closed_by_other()) self.close();
        });
    }
    void leave() { peer_.close(); }
    /// Reads what is left where it had stopped.
    void look() { peer_.resume_reading(); }

    /// Every answer is one that its request may get, in their order, and nothing follows the last.
    void judge(const weather& in) {
        std::string_view rest = peer_.received();
        std::size_t at = 0;
        bool closed = false;
        bool told_to_go_on = false;
        bool excused = in.faults || in.tight || in.stopping || left_ || sends_surplus_;
        while (!rest.empty() && !closed) {
            const ::testing::ScopedTrace where(__FILE__, __LINE__, text(at));
            const bool to_head = at < asked_.size() && asked_[at].to_head;
            heard one = heard::take(rest, to_head);
            if (one.how == heard::extent::none) break;
            if (one.status == 100) {
                EXPECT_TRUE(at < asked_.size() && asked_[at].expects && !told_to_go_on) << text(at) << "100 for nothing";
                told_to_go_on = true;
                continue;
            }
            told_to_go_on = false;
            if (one.status == 101) one.content = std::exchange(rest, {});
            closed = judge_one(one, at, in);
            excused = excused || (one.how == heard::extent::until_close && (finishes_ || !is_right(one, asked_[at], at, in)));
            ++at;
        }
        if (closed) {
            EXPECT_EQ(rest, "") << text(at) << "something follows the last answer";
        }
        if (!excused && !rest.empty()) ADD_FAILURE() << text(at) << "an answer is cut short: " << rest.substr(0, 100);
        if (!closed && !excused) {
            EXPECT_GE(at, complete_) << text(at) << "answers are missing";
        }
        if (!excused) {
            EXPECT_FALSE(peer_.reset_by_other()) << text(at) << "reset after " << peer_.received().substr(0, 300);
        }
    }

private:
    void draw_requests(dice& draws, std::uint64_t& numbers) {
        if (draws.one_in(20)) return;  // says nothing
        const std::size_t count = 1 + draws.below(draws.one_in(3) ? 8 : 3);
        for (std::size_t i = 0; i < count; ++i) {
            asked_.emplace_back(draws, ++numbers, static_cast<form>(draws.below(static_cast<std::uint64_t>(form::upgrade))));
        }
        if (draws.one_in(15)) asked_.emplace_back(draws, ++numbers, form::upgrade);
    }

    /// How what it says ends: whole or not, and with a FIN or not.
    void draw_end(dice& draws, std::string& bytes, bool patient) {
        const bool upgrades = !asked_.empty() && asked_.back().what == form::upgrade;
        switch (draws.below(6)) {
        case 0:
            cut_ = true;
            bytes.resize(draws.below(bytes.size() + 1));
            finishes_ = draws.one_in(2);
            break;
        case 1: finishes_ = true; break;
        case 2: talks_nonsense_ = !upgrades && patient; break;
        default: break;
        }
    }

    void send(dice& draws, std::string_view bytes, bool patient) {
        duration at{0};
        const duration last = patient ? std::chrono::milliseconds(120) : std::chrono::milliseconds(400);
        const std::size_t most = std::max<std::size_t>(draws.one_in(3) ? 60 : bytes.size() + 1, bytes.size() / 200 + 1);
        const std::size_t stall = draws.one_in(3) ? draws.below(bytes.size() + 1) : bytes.size();
        for (std::size_t sent = 0; sent < bytes.size();) {
            const std::size_t size = 1 + draws.below(most);
            if (sent <= stall && stall < sent + size) at += draws.time_below(last / 2);
            at == duration::zero() ? peer_.send(bytes.substr(sent, size)) : peer_.send_after(at, bytes.substr(sent, size));
            sent += size;
            if (at < last / 2 && draws.one_in(2)) at += draws.time_below(std::chrono::milliseconds(2));
        }
        if (finishes_) peer_.after(at, [](sim::peer& self) { self.shutdown_write(); });
    }

    void draw_reading(dice& draws) {
        if (!draws.one_in(6)) return;
        peer_.pause_reading();
        for (int i = 0; i < 10; ++i) {
            const std::size_t size = draws.below(5000);
            peer_.after(draws.time_below(std::chrono::milliseconds(60)), [size](sim::peer& self) { self.read_some(size); });
        }
        peer_.after(std::chrono::milliseconds(70), [](sim::peer& self) { self.resume_reading(); });
    }

    void leave_at(duration when, bool by_reset) {
        left_ = true;
        peer_.after(when, [by_reset](sim::peer& self) { by_reset ? self.reset() : self.close(); });
    }

    std::string text(std::size_t at) const {
        std::string all =
            "answer " + std::to_string(at) + " of " + std::to_string(asked_.size()) + " (" + std::to_string(complete_) + " whole";
        if (cut_) all += ", cut";
        if (finishes_) all += ", FIN";
        if (talks_nonsense_) all += ", nonsense";
        if (left_) all += ", left";
        all += ") ";
        return all + (at < asked_.size() ? asked_[at].head.substr(0, asked_[at].head.find('\r')) + ": " : ": ");
    }

    /// True when nothing may follow.
    bool judge_one(const heard& one, std::size_t at, const weather& in) const {
        const bool was_asked = at < asked_.size();
        const bool ends = one.closes() || one.status == 101 || one.how == heard::extent::cut || one.how == heard::extent::until_close;
        const bool right = was_asked && is_right(one, asked_[at], at, in);
        if (!right) {
            EXPECT_TRUE(is_excused(one, at, in)) << text(at) << one.head.head << one.content.substr(0, 100);
        }
        // What begins like the right answer is a part of it.
        if (was_asked && one.status == 200 && status_of(asked_[at].what) == 200) {
            EXPECT_TRUE(expected(asked_[at], one).starts_with(without_comments(one, asked_[at]))) << text(at) << one.content.substr(0, 100);
        }
        if (one.how == heard::extent::cut || (one.how == heard::extent::until_close && !right)) judge_cut(one, at, in);
        if (right && one.closes()) {
            EXPECT_TRUE(may_close(asked_[at], at, in)) << text(at) << "the last answer for no reason";
        }
        if (right && in.is_calm() && !left_ && at + 1 == in.requests_max) {
            EXPECT_TRUE(ends) << text(at) << "requests_max is over";
        }
        return ends;
    }

    /// What is not whole must not look as if it were: chunks and lengths say it by themselves, the rest only by a reset.
    void judge_cut(const heard& one, std::size_t at, const weather& in) const {
        if (left_) return;
        // Events go on as long as the server does.
        if (in.stopping && at < asked_.size() && asked_[at].what == form::events) return;
        EXPECT_TRUE(peer_.closed_by_other()) << text(at) << "the answer stopped in the middle";
        // A Unix socket has no reset.
        if (one.how == heard::extent::until_close && !is_unix_) {
            EXPECT_TRUE(peer_.reset_by_other()) << text(at) << "a part looks whole";
        }
    }

    static std::string expected(const asked& what, const heard& one) {
        if (what.to_head) return {};
        if (one.status == 101) return what.behind;
        return content_of(what.what, what.target, what.content);
    }
    static std::string without_comments(const heard& one, const asked& what) {
        std::string all = one.content;
        if (what.what != form::events) return all;
        // What the server says when it is quiet. The last of them may be a part of one.
        constexpr std::string_view comment = ":\n\n";
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t end = all.find("\n\n", at);
            const std::string_view line = std::string_view(all).substr(at, end == all.npos ? all.npos : end + 2 - at);
            if (comment.starts_with(line)) {
                all.erase(at, line.size());
            } else {
                at += line.size();
            }
        }
        return all;
    }

    bool is_right(const heard& one, const asked& what, std::size_t at, const weather& in) const {
        const bool refused = in.no_later && (what.what == form::later || what.what == form::later_stream);
        if (one.status != (refused ? 500 : status_of(what.what)) || one.how == heard::extent::cut) return false;
        if (one.status >= 400) return true;
        const std::string wanted = expected(what, one);
        const std::string content = without_comments(one, what);
        if (content == wanted) return true;
        // The other protocol goes on as long as both want.
        return one.status == 101 && wanted.starts_with(content) && (cut_ || at >= complete_ || left_);
    }

    /// Another answer than the right one, or a part of one.
    bool is_excused(const heard& one, std::size_t at, const weather& in) const {
        const bool was_asked = at < asked_.size();
        const bool whole = at < complete_;
        const bool may_fail = was_asked && can_be_cancelled(asked_[at].what) && (finishes_ || in.stopping);
        if (in.faults && (one.status >= 500 || one.status == 408 || one.how != heard::extent::whole || one.status == 101)) return true;
        if (one.how != heard::extent::whole) return in.tight || in.stopping || left_ || sends_surplus_ || !whole || may_fail;
        switch (one.status) {
        case 101: return in.stopping || in.tight;
        case 200: return in.stopping && was_asked && asked_[at].what == form::events;  // ends whole, but early
        case 400: return !whole && (talks_nonsense_ || finishes_ || in.stopping || in.faults);
        case 408: return in.tight || in.stopping || !whole;
        case 413: return was_asked && asked_[at].content.size() > in.body_bytes_max;
        case 500: return may_fail || (!whole && finishes_);
        case 503: return in.tight || in.stopping;
        case 504: return in.tight;
        default: return false;
        }
    }

    /// Why an answer may be the last.
    bool may_close(const asked& what, std::size_t at, const weather& in) const {
        const bool unread = what.has_content && !reads_content(what.what);
        return !in.is_calm() || what.ends_itself() || unread || at + 1 >= in.requests_max || at >= complete_ ||
               (what.old && (what.what == form::stream || what.what == form::events || what.what == form::echo || what.what == form::file ||
                             what.what == form::later_stream)) ||
               (finishes_ && can_be_cancelled(what.what));
    }

    std::vector<asked> asked_;
    std::size_t complete_ = 0;
    bool cut_ = false;
    bool finishes_ = false;
    bool talks_nonsense_ = false;
    bool sends_surplus_ = false;  // behind a request that it called its last: nobody waits for that, and a reset may meet it
    bool left_ = false;
    bool is_unix_;
    sim::peer peer_;
};

}  // namespace martlet::server::testing
