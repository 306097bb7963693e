#include <algorithm>
#include <string>
#include <vector>

#include "numbers.hpp"
#include "report.hpp"

namespace load {

namespace {

/// Writes members and elements with commas between them, indented.
class json_writer {
public:
    void begin(std::string_view name, char bracket) {
        key(name);
        out_ += bracket;
        ++depth_;
        is_first_ = true;
    }
    void end(char bracket) {
        --depth_;
        if (!is_first_) line();
        out_ += bracket;
        is_first_ = false;
    }
    void number(std::string_view name, std::uint64_t value) {
        key(name);
        out_ += std::to_string(value);
    }
    void number(std::string_view name, double value, int digits) {
        key(name);
        out_ += fixed(value, digits);
    }
    void boolean(std::string_view name, bool value) {
        key(name);
        out_ += value ? "true" : "false";
    }
    void null(std::string_view name) {
        key(name);
        out_ += "null";
    }
    void text(std::string_view name, std::string_view value) {
        key(name);
        quote(value);
    }
    std::string take() { return std::move(out_) + "\n"; }

private:
    void line() {
        out_ += '\n';
        out_.append(static_cast<std::size_t>(depth_), ' ');
    }
    void key(std::string_view name) {
        if (!is_first_) out_ += ',';
        if (depth_ != 0) line();
        is_first_ = false;
        if (name.empty()) return;
        quote(name);
        out_ += ": ";
    }
    // URLs are ASCII; what else comes is a sentence of ours.
    void quote(std::string_view value) {
        out_ += '"';
        for (const char c : value) {
            if (c == '"' || c == '\\') out_ += '\\';
            if (static_cast<unsigned char>(c) >= 0x20) out_ += c;
        }
        out_ += '"';
    }

    std::string out_;
    int depth_ = 0;
    bool is_first_ = true;
};

void latency(json_writer& out, std::string_view name, const histogram& of) {
    out.begin(name, '{');
    out.number("count", of.count());
    if (!of.empty()) {
        out.number("min", of.min_ns());
        out.number("mean", of.mean_ns(), 0);
        out.number("deviation", of.deviation_ns(), 0);
        for (const percentile& each : percentiles) out.number(each.name, of.at_ns(each.share));
        out.number("max", of.max_ns());
    }
    out.end('}');
}

void faults(json_writer& out, const fault_counts& of) {
    out.begin("faults", '{');
    for (std::size_t i = 0; i < fault_count; ++i) out.number(fault_names[i], of[i]);
    out.number("all", sum_of(of));
    out.end('}');
}

void asked(json_writer& out, const plan& what) {
    out.text("loop", what.is_open() ? "open" : "closed");
    out.number("connections", std::uint64_t{what.connections});
    out.number("threads", std::uint64_t{what.threads});
    out.number("pipeline", std::uint64_t{what.depth});
    what.is_open() ? out.number("rate_per_s", *what.rate, 3) : out.null("rate_per_s");
    what.requests ? out.number("requests_max", *what.requests) : out.null("requests_max");
    what.length != forever ? out.number("duration_s", std::chrono::duration<double>(what.length).count(), 3) : out.null("duration_s");
    out.number("warmup_s", std::chrono::duration<double>(what.warmup).count(), 3);
    out.number("ramp_s", std::chrono::duration<double>(what.ramp).count(), 3);
    out.boolean("closes", what.targets[0].closes);
    out.number("timeout_s", std::chrono::duration<double>(what.timeout).count(), 3);
}

void totals(json_writer& out, const plan& what, const outcome& of) {
    const tally& all = of.total;
    out.boolean("began", of.has_begun);
    out.boolean("interrupted", of.was_interrupted);
    out.number("elapsed_s", static_cast<double>(all.elapsed_ns) / 1e9, 6);
    out.number("window_s", static_cast<double>(all.window_ns) / 1e9, 6);
    out.number("sent", all.sent());
    out.number("right", all.right());
    out.number("unsent", all.unsent());
    out.number("queued", all.queued);
    out.number("warmup_requests", all.warmup_requests);
    out.number("warmup_faults", all.warmup_faults);
    out.number("answers_per_s", of.answers_per_second(), 3);
    out.boolean("fell_behind", of.fell_behind(what));
    out.number("connections_opened", all.connections_opened);
    out.number("connections_ended", all.connections_ended);
    faults(out, all.faults());
    histogram together;
    for (const target_tally& each : all.of_targets) together.merge(each.latency);
    latency(out, "latency_ns", together);
}

void one_target(json_writer& out, const target& what, const target_tally& of) {
    out.begin("", '{');
    out.text("url", what.url);
    out.number("share", std::uint64_t{what.share});
    out.number("sent", of.sent);
    out.number("right", of.right);
    out.number("unsent", of.unsent);
    out.number("bytes_received", of.bytes_received);
    out.begin("statuses", '{');
    for (std::size_t i = 0; i < of.statuses.size(); ++i) {
        if (of.statuses[i] != 0) out.number(std::to_string(i), of.statuses[i]);
    }
    out.end('}');
    faults(out, of.faults);
    latency(out, "latency_ns", of.latency);
    out.end('}');
}

void client(json_writer& out, const plan& what, const outcome& of) {
    const auto requests = static_cast<double>(std::max<std::uint64_t>(of.total.sent() + of.total.warmup_requests, 1));
    out.begin("client", '{');
    out.number("processors", std::uint64_t{of.processors});
    out.number("cpu_s", static_cast<double>(of.total.cpu_ns) / 1e9, 6);
    out.number("cpu_ns_per_request", static_cast<double>(of.total.cpu_ns) / requests, 1);
    out.number("busy", of.client_busy(what), 4);
    out.number("waited", of.client_waited(what), 4);
    out.boolean("is_limit", of.is_client_bound(what));
    latency(out, "lag_ns", of.total.lag);
    out.end('}');
}

void moments(json_writer& out, const outcome& of) {
    out.begin("moments", '[');
    for (const moment& each : of.moments) {
        out.begin("", '{');
        out.number("until_s", each.until_s, 3);
        out.number("length_s", each.length_s, 3);
        out.number("answers", each.answers);
        out.number("faults", each.faults);
        out.number("p50_ns", each.p50_ns);
        out.number("p99_ns", each.p99_ns);
        out.number("max_ns", each.max_ns);
        out.end('}');
    }
    out.end(']');
}

}  // namespace

std::string json_report(const plan& what, const outcome& of) {
    json_writer out;
    out.begin("", '{');
    asked(out, what);
    totals(out, what, of);
    out.begin("targets", '[');
    for (std::size_t i = 0; i < what.targets.size(); ++i) one_target(out, what.targets[i], of.total.of_targets[i]);
    out.end(']');
    client(out, what, of);
    out.begin("notes", '[');
    for (const std::string& each : warnings(what, of)) out.text("", each);
    out.end(']');
    moments(out, of);
    out.end('}');
    return out.take();
}

}  // namespace load
