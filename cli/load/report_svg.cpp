// Latency as a picture: for each target a line over the percentiles, with one more nine at each mark. Light and dark as the reader has it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "numbers.hpp"
#include "report.hpp"

namespace load {

namespace {

constexpr double width = 760, left = 84, right = 40, top = 64, plot_height = 320;
constexpr double plot_width = width - left - right;
// From the best answer to the one in 100,000: five decades of what is slower.
constexpr double decades = 5;
constexpr std::array<const char*, 8> colours = {"#2563a8", "#c2410c", "#15803d", "#7e22ce", "#b4234f", "#0f766e", "#8a6d00", "#57534e"};
constexpr std::array<const char*, 8> dark_colours = {"#7ab8f5", "#fb9a5b", "#6fd695", "#cf9bf7",
                                                     "#f58aa9", "#5fd4c6", "#e3c24a", "#c9c4bd"};

struct frame {
    double lowest = 0;  // powers of ten of nanoseconds
    double highest = 0;

    static double x(double share) { return left + plot_width * std::min(-std::log10(std::max(1 - share, 1e-9)) / decades, 1.0); }
    double y(double ns) const { return top + plot_height * (highest - std::log10(std::max(ns, 1.0))) / (highest - lowest); }
};

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (static_cast<unsigned char>(c) >= 0x20) {
            out += c;
        }
    }
    return out;
}

std::string text_at(double x, double y, const char* style, std::string_view text) {
    return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" class=\"" + style + "\">" + escaped(text) + "</text>\n";
}

std::string line_at(double x1, double y1, double x2, double y2) {
    return "<line class=\"grid\" x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" + fixed(x2, 1) + "\" y2=\"" + fixed(y2, 1) +
           "\"/>\n";
}

std::string style() {
    std::string out =
        "<style>\n"
        "svg { background: #ffffff; font: 13px system-ui, sans-serif; }\n"
        "text { fill: #1f2328; } .small { fill: #57606a; font-size: 12px; } .title { font-size: 15px; font-weight: 600; }\n"
        ".middle { text-anchor: middle; } .end { text-anchor: end; }\n"
        ".grid { stroke: #d8dee4; stroke-width: 1; } .line { fill: none; stroke-width: 2; stroke-linejoin: round; }\n";
    for (std::size_t i = 0; i < colours.size(); ++i)
        out += ".c" + std::to_string(i) + " { stroke: " + colours[i] + "; } .f" + std::to_string(i) + " { fill: " + colours[i] + "; }\n";
    out +=
        "@media (prefers-color-scheme: dark) {\n"
        "svg { background: #14181d; } text { fill: #e6edf3; } .small { fill: #9aa4af; } .grid { stroke: #333b44; }\n";
    for (std::size_t i = 0; i < colours.size(); ++i)
        out += ".c" + std::to_string(i) + " { stroke: " + dark_colours[i] + "; } .f" + std::to_string(i) + " { fill: " + dark_colours[i] +
               "; }\n";
    return out + "}\n</style>\n";
}

frame frame_of(const outcome& of) {
    double least = 1e18, most = 0;
    for (const target_tally& each : of.total.of_targets) {
        if (each.latency.empty()) continue;
        least = std::min(least, std::max(static_cast<double>(each.latency.min_ns()), 1.0));
        most = std::max(most, static_cast<double>(each.latency.max_ns()));
    }
    if (most == 0) return {3, 6};
    frame out{std::floor(std::log10(least)), std::ceil(std::log10(most))};
    if (out.highest - out.lowest < 1) out.highest = out.lowest + 1;
    return out;
}

std::string axes(const frame& in) {
    std::string out;
    for (double power = in.lowest; power <= in.highest; ++power) {
        const double y = in.y(std::pow(10, power));
        const std::string value = time_text(std::pow(10, power));
        // "1.00 ms" of a mark is 1 ms.
        const auto point = value.find('.'), space = value.find(' ');
        out += line_at(left, y, left + plot_width, y);
        out += text_at(left - 10, y + 4, "small end", point < space ? value.substr(0, point) + value.substr(space) : value);
    }
    constexpr std::array<std::pair<double, const char*>, 7> marks = {
        {{0, "0 %"}, {0.5, "50 %"}, {0.9, "90 %"}, {0.99, "99 %"}, {0.999, "99.9 %"}, {0.9999, "99.99 %"}, {0.99999, "99.999 %"}}};
    for (const auto& [share, name] : marks) {
        const double x = frame::x(share);
        out += line_at(x, top, x, top + plot_height);
        out += text_at(x, top + plot_height + 20, "small middle", name);
    }
    return out + text_at(left + plot_width / 2, top + plot_height + 42, "small middle", "share of the answers that were at least as fast");
}

// As far as there are answers: with 1000 the line ends at 99.9 %.
std::string line_of(const frame& in, const histogram& latency, std::size_t colour) {
    constexpr int steps = 250;
    const double last = std::min(1 - 1 / static_cast<double>(latency.count()), 1 - std::pow(10, -decades));
    std::string points;
    for (int i = 0; i <= steps; ++i) {
        const double share = 1 - std::pow(10, -decades * i / steps);
        if (share > last) break;
        points += (points.empty() ? "" : " ") + fixed(frame::x(share), 1) + "," + fixed(in.y(static_cast<double>(latency.at_ns(share))), 1);
    }
    points += (points.empty() ? "" : " ") + fixed(frame::x(last), 1) + "," + fixed(in.y(static_cast<double>(latency.max_ns())), 1);
    return "<polyline class=\"line c" + std::to_string(colour) + "\" points=\"" + points + "\"/>\n";
}

std::string title_of(const plan& what) { return what.is_open() ? "Latency from the moment each request was due" : "Latency"; }

std::string facts_of(const plan& what, const outcome& of) {
    std::string out = std::to_string(what.connections) + (what.connections == 1 ? " connection" : " connections");
    if (what.is_open()) out += ", " + fixed(*what.rate, *what.rate < 10 ? 2 : 0) + " requests a second";
    if (what.depth > 1) out += ", " + std::to_string(what.depth) + " at once";
    out += "; " + grouped(of.total.right()) + " right answers, " + grouped(sum_of(of.total.faults())) + " faults, " +
           fixed(of.answers_per_second(), 0) + " answers a second";
    return out;
}

}  // namespace

std::string svg_report(const plan& what, const outcome& of) {
    const frame in = frame_of(of);
    constexpr double row = 20, legend_top = top + plot_height + 70;
    const auto notes = warnings(what, of);
    const double height = legend_top + row * static_cast<double>(what.targets.size() + notes.size()) + 8;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + fixed(width, 0) + " " + fixed(height, 0) +
                      "\" width=\"" + fixed(width, 0) + "\" height=\"" + fixed(height, 0) + "\" role=\"img\">\n";
    out += "<title>" + title_of(what) + "</title>\n" + style();
    out += text_at(left, 28, "title", title_of(what));
    out += text_at(left, 47, "small", facts_of(what, of));
    out += axes(in);
    for (std::size_t i = 0; i < what.targets.size(); ++i) {
        const histogram& latency = of.total.of_targets[i].latency;
        const std::size_t colour = i % colours.size();
        const double y = legend_top + row * static_cast<double>(i);
        if (!latency.empty()) out += line_of(in, latency, colour);
        out += "<rect class=\"f" + std::to_string(colour) + "\" x=\"" + fixed(left, 1) + "\" y=\"" + fixed(y - 6, 1) +
               "\" width=\"18\" height=\"3\"/>\n";
        out += text_at(left + 28, y, "name", what.targets[i].url);
    }
    // Each on one line of its own; the text report has them whole.
    constexpr std::size_t note_bytes_max = 104;
    for (std::size_t i = 0; i < notes.size(); ++i) {
        const std::string shown =
            notes[i].size() > note_bytes_max ? notes[i].substr(0, notes[i].rfind(' ', note_bytes_max)) + " ..." : notes[i];
        out += text_at(left, legend_top + row * static_cast<double>(what.targets.size() + i), "small", "Note: " + shown);
    }
    return out + "</svg>\n";
}

}  // namespace load
