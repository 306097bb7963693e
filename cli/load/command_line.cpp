#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "numbers.hpp"
#include "request.hpp"

namespace load {

using namespace martlet;

const char* const usage = R"(usage: martlet load URL [options]
       martlet load --target URL=SHARE --target URL=SHARE ... [options]

Sends requests to http://HOST:PORT/PATH and checks each answer whole. HOST is an address or localhost.

How much
  -c, --connections N    connections, of all threads and targets together (10)
  -t, --threads N        threads; at most one for each connection (1)
  -d, --duration TIME    how long, as 10s, 500ms or 2m, with the warm-up (10s, or without end when -n is given)
  -n, --requests N       how many requests at most
      --rate N           requests a second: an open loop. Each has its moment, whether earlier ones were answered or not, and latency counts
                         from that moment. Without it each connection asks again when it is answered: a closed loop
      --ramp TIME        the rate rises evenly from nothing to --rate over so long (0s)
      --pipeline N       requests that a connection sends together, before their answers (1)
      --warmup TIME      requests of so long from the start are not counted (0s)
      --close            each request on a connection of its own, which is closed behind the answer
      --timeout TIME     a request unanswered for so long after it was sent has failed, and its connection is closed (10s)

What
      --target URL=SHARE one of several targets; SHARE is a whole number (1)
  -X, --method WORD      the method (GET, or POST with content)
  -H, --header 'N: V'    a field; may come several times
      --body TEXT        content of each request
      --body-file FILE   the same from a file
      --unix PATH        connects to this socket; the URL gives Host and path only. @NAME is an abstract one

What is right
      --expect-status S  200, 2xx, or several as 200,304 (2xx,3xx)
      --expect-length N  bytes of content
      --expect-hash HEX  SHA-256 of the content

Results
      --json FILE        all figures; - is standard output, and then the text is left out
      --svg FILE         latency as a picture
  -q, --quiet            no line while it runs
  -h, --help             this

Ctrl-C ends it early with its report; a second one does not wait for answers. Status: 0 all answers were right, 1 some were not or none
came, 2 misuse, or more connections than the limit on descriptors allows (ulimit -Hn; the soft one is raised).
)";

namespace {

using problem = std::optional<std::string>;

/// The words, one after the other, and the value of the option that was read last.
class word_reader {
public:
    explicit word_reader(std::span<const char* const> words) : words_(words) {}

    bool next() {
        if (at_ == words_.size()) return false;
        word_ = words_[at_++];
        name_ = word_;
        attached_.reset();
        if (word_.starts_with("--")) {
            if (const auto equals = word_.find('='); equals != std::string_view::npos) {
                name_ = word_.substr(0, equals);
                attached_ = word_.substr(equals + 1);
            }
        } else if (word_.starts_with("-") && word_.size() > 2) {
            name_ = word_.substr(0, 2);
            attached_ = word_.substr(2);
        }
        return true;
    }
    std::string_view word() const { return word_; }
    std::string_view name() const { return name_; }
    bool is_option() const { return word_.starts_with("-") && word_.size() > 1; }
    bool has_attached() const { return attached_.has_value(); }
    /// What is attached to the option, or the next word.
    std::optional<std::string_view> value() {
        if (attached_) return attached_;
        if (at_ == words_.size()) return std::nullopt;
        return words_[at_++];
    }

private:
    std::span<const char* const> words_;
    std::size_t at_ = 0;
    std::string_view word_;
    std::string_view name_;
    std::optional<std::string_view> attached_;
};

/// What is collected before the plan can be made.
struct asked {
    command_line out;
    std::vector<std::pair<std::string, unsigned>> urls;
    request_parts request;
    std::string unix_path;
    bool has_duration = false;
    bool has_status = false;
    bool has_plain_url = false;
};

problem read_number(std::string_view text, unsigned least, unsigned most, unsigned& to) {
    const auto number = whole_number(text, most);
    if (!number || *number < least) return "takes a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    to = static_cast<unsigned>(*number);
    return std::nullopt;
}

problem read_time(std::string_view text, duration least, duration& to) {
    const auto time = time_of(text);
    if (!time || *time < least) return std::string("takes a time as 10s, 500ms or 2m") + (least > duration::zero() ? ", and not none" : "");
    to = *time;
    return std::nullopt;
}

problem read_target(std::string_view text, asked& to) {
    // '=' may stand in the URL too.
    const auto equals = text.rfind('=');
    unsigned share = 1;
    std::string_view url = text;
    if (equals != std::string_view::npos && whole_number(text.substr(equals + 1), UINT64_MAX)) {
        if (read_number(text.substr(equals + 1), 1, plan::share_max, share)) return "takes URL=SHARE, a share from 1 to 1000000";
        url = text.substr(0, equals);
    }
    to.urls.emplace_back(url, share);
    return std::nullopt;
}

problem read_file(std::string_view name, std::string& to) {
    std::ifstream file{std::string(name), std::ios::binary};
    if (!file) return "cannot read \"" + std::string(name) + "\"";
    to.assign(std::istreambuf_iterator<char>(file), {});
    return file.bad() ? problem("cannot read \"" + std::string(name) + "\"") : std::nullopt;
}

problem read_header(std::string_view text, asked& to) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) return "takes a field as 'Name: value'";
    std::string_view value = text.substr(colon + 1);
    const auto first = value.find_first_not_of(" \t");
    value = first == std::string_view::npos ? std::string_view() : value.substr(first, value.find_last_not_of(" \t") + 1 - first);
    to.request.fields.emplace_back(text.substr(0, colon), value);
    return std::nullopt;
}

problem read_rate(std::string_view text, asked& to) {
    const auto rate = positive_number(text);
    if (!rate || *rate > 1e9) return "takes requests a second, more than 0 and up to 1000000000";
    to.out.what.rate = *rate;
    return std::nullopt;
}

problem read_requests(std::string_view text, asked& to) {
    const auto number = whole_number(text, std::uint64_t{1} << 50);
    if (!number || *number == 0) return "takes a whole number from 1";
    to.out.what.requests = *number;
    return std::nullopt;
}

problem read_length(std::string_view text, asked& to) {
    to.out.what.expected.content_bytes = whole_number(text, UINT64_MAX);
    return to.out.what.expected.content_bytes ? std::nullopt : problem("takes a number of bytes");
}

problem read_hash(std::string_view text, asked& to) {
    to.out.what.expected.hash = sha256::parse(text);
    return to.out.what.expected.hash ? std::nullopt : problem("takes a SHA-256 as 64 hexadecimal digits");
}

problem read_statuses(std::string_view text, asked& to) {
    const auto statuses = statuses_of(text);
    if (!statuses) return "takes statuses as 200, 2xx or 200,304";
    to.out.what.expected.status = *statuses;
    to.has_status = true;
    return std::nullopt;
}

struct option_row {
    std::string_view name;
    std::string_view letter;
    problem (*read)(std::string_view value, asked& to);
};

constexpr duration none = duration::zero();
constexpr duration some = duration(1);

constexpr option_row option_rows[] = {
    {"--connections", "-c",
     [](std::string_view v, asked& to) { return read_number(v, 1, plan::connections_max, to.out.what.connections); }},
    {"--threads", "-t", [](std::string_view v, asked& to) { return read_number(v, 1, plan::threads_max, to.out.what.threads); }},
    {"--duration", "-d",
     [](std::string_view v, asked& to) {
         to.has_duration = true;
         return read_time(v, some, to.out.what.length);
     }},
    {"--requests", "-n", read_requests},
    {"--rate", "", read_rate},
    {"--pipeline", "", [](std::string_view v, asked& to) { return read_number(v, 1, plan::depth_max, to.out.what.depth); }},
    {"--warmup", "", [](std::string_view v, asked& to) { return read_time(v, none, to.out.what.warmup); }},
    {"--ramp", "", [](std::string_view v, asked& to) { return read_time(v, none, to.out.what.ramp); }},
    {"--timeout", "", [](std::string_view v, asked& to) { return read_time(v, some, to.out.what.timeout); }},
    {"--target", "", read_target},
    {"--method", "-X",
     [](std::string_view v, asked& to) {
         to.request.method = v;
         return problem();
     }},
    {"--header", "-H", read_header},
    {"--body", "",
     [](std::string_view v, asked& to) {
         to.request.content.emplace(v);
         return problem();
     }},
    {"--body-file", "", [](std::string_view v, asked& to) { return read_file(v, to.request.content.emplace()); }},
    {"--unix", "",
     [](std::string_view v, asked& to) {
         to.unix_path = v;
         return v.empty() ? problem("takes a path") : std::nullopt;
     }},
    {"--expect-status", "", read_statuses},
    {"--expect-length", "", read_length},
    {"--expect-hash", "", read_hash},
    {"--json", "",
     [](std::string_view v, asked& to) {
         to.out.where.json = v;
         return v.empty() ? problem("takes a file") : std::nullopt;
     }},
    {"--svg", "",
     [](std::string_view v, asked& to) {
         to.out.where.svg = v;
         return v.empty() ? problem("takes a file") : std::nullopt;
     }},
};

problem read_word(word_reader& words, asked& to) {
    const std::string_view name = words.name();
    if (!words.is_option()) {
        if (to.has_plain_url)
            return "there is a URL already; several are given as --target URL=SHARE: \"" + std::string(words.word()) + "\"";
        to.has_plain_url = true;
        to.urls.emplace_back(words.word(), 1u);
        return std::nullopt;
    }
    bool* const flag = name == "--help" || name == "-h"    ? &to.out.wants_help
                       : name == "--quiet" || name == "-q" ? &to.out.where.quiet
                       : name == "--close"                 ? &to.request.closes
                                                           : nullptr;
    if (flag != nullptr && !words.has_attached()) {
        *flag = true;
        return std::nullopt;
    }
    for (const option_row& row : option_rows) {
        if (name != row.name && (row.letter.empty() || name != row.letter)) continue;
        const auto value = words.value();
        if (!value) return std::string(name) + " takes a value";
        const problem wrong = row.read(*value, to);
        if (wrong) return std::string(name) + " " + *wrong + ", not \"" + std::string(*value) + "\"";
        return std::nullopt;
    }
    return "what is \"" + std::string(words.word()) + "\"?";
}

problem complete(asked& from) {
    plan& what = from.out.what;
    if (from.urls.empty()) return "a URL is wanted, as http://127.0.0.1:8080/";
    if (from.has_plain_url && from.urls.size() > 1) return "give either one URL or --target URL=SHARE for each";
    if (from.urls.size() > plan::targets_max) return "at most " + std::to_string(plan::targets_max) + " targets";
    if (!from.has_status) what.expected.status = *statuses_of("2xx,3xx");
    if (what.requests && !from.has_duration) what.length = forever;
    if (what.warmup >= what.length) return "the warm-up must end before the load does";
    if (what.ramp > duration::zero() && !what.rate) return "--ramp is for a load with --rate";
    if (what.ramp >= what.length) return "the ramp must end before the load does";
    if (from.request.closes && what.depth > 1) return "--close leaves nothing to --pipeline";
    for (const auto& [url, share] : from.urls) {
        auto made = make_target(url, share, from.request, from.unix_path);
        if (!made) return made.error();
        what.targets.push_back(std::move(*made));
    }
    what.threads = std::min(what.threads, what.connections);
    return std::nullopt;
}

}  // namespace

std::expected<command_line, std::string> command_line::read(std::span<const char* const> words) {
    asked all;
    word_reader reader(words);
    while (reader.next()) {
        const problem wrong = read_word(reader, all);
        if (wrong) return std::unexpected(*wrong);
    }
    if (!all.out.wants_help) {
        const problem wrong = complete(all);
        if (wrong) return std::unexpected(*wrong);
    }
    return std::move(all.out);
}

}  // namespace load
