#include <algorithm>
#include <string>
#include <vector>

#include "numbers.hpp"
#include "report.hpp"

namespace load {

namespace {

std::string padded(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string percent(double share) { return fixed(100 * share, share < 0.1 ? 1 : 0) + " %"; }

std::string head_line(const plan& what) {
    std::string line =
        std::to_string(what.connections) + " connections, " + std::to_string(what.threads) + (what.threads == 1 ? " thread" : " threads");
    if (what.depth > 1) line += ", " + std::to_string(what.depth) + " requests at once";
    line += what.is_open() ? ", open loop: " + fixed(*what.rate, *what.rate < 10 ? 2 : 0) + " requests a second" : ", closed loop";
    if (what.ramp > martlet::duration::zero()) line += " after " + time_text(static_cast<double>(what.ramp.count())) + " of rise";
    if (what.targets[0].closes) line += ", one request each";
    if (what.length != forever) line += ", " + time_text(static_cast<double>(what.length.count()));
    if (what.warmup > martlet::duration::zero())
        line += ", the first " + time_text(static_cast<double>(what.warmup.count())) + " not counted";
    return line + "\n";
}

std::string latency_table(const plan& what, const outcome& of) {
    std::vector<std::string> columns = {"mean"};
    for (const percentile& each : percentiles) columns.emplace_back(each.short_text);
    columns.emplace_back("max");
    constexpr std::size_t width = 10;
    std::string out = what.is_open() ? "Latency from the moment each request was due\n" : "Latency\n";
    out += std::string(2, ' ');
    for (const std::string& each : columns) out += padded(each, width);
    out += "\n";
    for (std::size_t i = 0; i < what.targets.size(); ++i) {
        const histogram& latency = of.total.of_targets[i].latency;
        out += std::string(2, ' ') + padded(latency.empty() ? "-" : time_text(latency.mean_ns()), width);
        for (const percentile& each : percentiles)
            out += padded(latency.empty() ? "-" : time_text(static_cast<double>(latency.at_ns(each.share))), width);
        out += padded(latency.empty() ? "-" : time_text(static_cast<double>(latency.max_ns())), width);
        if (what.targets.size() > 1) out += "  " + what.targets[i].url;
        out += "\n";
    }
    return out;
}

std::string fault_lines(const outcome& of) {
    const fault_counts faults = of.total.faults();
    std::string out;
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (faults[i] != 0) out += padded(grouped(faults[i]), 12) + "  " + std::string(fault_texts[i]) + "\n";
    }
    return out.empty() ? "No faults\n" : "Faults\n" + out;
}

std::string status_lines(const plan& what, const outcome& of) {
    std::string out;
    for (std::size_t i = 0; i < what.targets.size(); ++i) {
        const target_tally& one = of.total.of_targets[i];
        std::string line;
        for (std::size_t status = 0; status < one.statuses.size(); ++status) {
            if (one.statuses[status] == 0) continue;
            line += (line.empty() ? "" : ", ") + grouped(one.statuses[status]) + " with status " + std::to_string(status);
        }
        out += (what.targets.size() > 1 ? "  " + what.targets[i].url + ": " : "Answers: ") + (line.empty() ? "none" : line) + "\n";
    }
    return what.targets.size() > 1 ? "Answers\n" + out : out;
}

}  // namespace

std::string live_text(const moment& now) {
    const auto rate = [&](std::uint64_t count) {
        return grouped(now.length_s > 0 ? static_cast<std::uint64_t>(static_cast<double>(count) / now.length_s + 0.5) : 0);
    };
    std::string line = padded(fixed(now.until_s, 0), 4) + " s " + padded(rate(now.answers), 11) + "/s";
    line += "   50 % " + time_text(static_cast<double>(now.p50_ns)) + "   99 % " + time_text(static_cast<double>(now.p99_ns));
    line += "   max " + time_text(static_cast<double>(now.max_ns));
    if (now.faults != 0) line += "   faults " + grouped(now.faults);
    return line;
}

std::vector<std::string> warnings(const plan& what, const outcome& of) {
    std::vector<std::string> out;
    if (!of.has_begun) {
        std::string why = of.connect_error ? std::string(of.connect_error->text()) : "interrupted";
        out.push_back("no connection could be opened: " + why);
        return out;
    }
    if (of.is_client_bound(what)) {
        out.push_back("the client is the limit: it used " + percent(of.client_busy(what)) +
                      " of its processors, so the server may be able to do more; give it more threads or another machine");
    }
    if (of.fell_behind(what)) {
        out.push_back("it fell behind: " + grouped(of.total.unsent()) + " requests were due and not sent, " + percent(1 - of.sent_share()) +
                      " of all, and the latencies would be worse with them");
    }
    const auto sent = static_cast<double>(of.total.sent());
    if (what.is_open() && sent > 0 && static_cast<double>(of.total.queued) / sent > 0.01) {
        out.push_back(
            percent(static_cast<double>(of.total.queued) / sent) +
            " of the requests waited for a free connection, which counts in their latency; more connections would show the server alone");
    }
    constexpr double lag_max_ns = 1e6;
    if (what.is_open() && static_cast<double>(of.total.lag.at_ns(0.99)) > lag_max_ns) {
        out.push_back("the client was late: one request in a hundred left " + time_text(static_cast<double>(of.total.lag.at_ns(0.99))) +
                      " after its moment though a connection was free");
    }
    constexpr double waited_max = 0.05;
    if (of.client_waited(what) > waited_max) {
        out.push_back("the machine is busy with others: the client was ready and had no processor for " + percent(of.client_waited(what)) +
                      " of the time");
    }
    if (of.was_interrupted) out.push_back("it was ended early");
    return out;
}

std::string text_report(const plan& what, const outcome& of) {
    std::string out = head_line(what);
    if (of.has_begun) {
        const tally& total = of.total;
        out += grouped(total.right()) + " right answers of " + grouped(total.sent()) + " requests; " + fixed(of.answers_per_second(), 1) +
               " a second over " + time_text(static_cast<double>(total.window_ns)) + "\n";
        out += latency_table(what, of) + status_lines(what, of) + fault_lines(of);
        const auto answers = static_cast<double>(std::max<std::uint64_t>(total.right() + total.warmup_requests, 1));
        out += "Client: " + percent(of.client_busy(what)) + " of its processors, " +
               time_text(static_cast<double>(total.cpu_ns) / answers) + " of processor time a request";
        if (what.is_open())
            out += "; sent at " + time_text(static_cast<double>(total.lag.at_ns(0.5))) + " behind the moment in the middle, " +
                   time_text(static_cast<double>(total.lag.at_ns(0.99))) + " for 99 %";
        out += "\n";
    }
    for (const std::string& each : warnings(what, of)) out += "Note: " + each + "\n";
    return out;
}

}  // namespace load
