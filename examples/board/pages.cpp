#include "pages.hpp"

#include <map>
#include <numeric>
#include <ranges>

#include "assets.hpp"

namespace board {

namespace {

/// The template with each {{name}} replaced by its value.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& values) {
    std::string out;
    for (;;) {
        const std::size_t begin = page.find("{{");
        out += page.substr(0, begin);
        if (begin == page.npos) return out;
        const std::size_t end = page.find("}}", begin);
        out += values.at(page.substr(begin + 2, end - begin - 2));
        page.remove_prefix(end + 2);
    }
}

/// A colour for each name; board.js reckons likewise.
unsigned mark_of(std::string_view name) {
    return std::accumulate(name.begin(), name.end(), 0u, [](unsigned sum, char c) { return sum + static_cast<unsigned char>(c); }) % 6;
}

std::string item(const message& m) {
    const std::string time = iso_time(m.posted_at);
    return "  <li id=\"m" + std::to_string(m.id) + "\" class=\"mark-" + std::to_string(mark_of(m.name)) +
           "\"><article>\n"
           "    <header><strong dir=\"auto\">" +
           escaped(m.name) + "</strong> <time datetime=\"" + time + "\">" + time.substr(0, 10) + " " + time.substr(11, 5) +
           " UTC</time></header>\n"
           "    <p dir=\"auto\">" +
           escaped(m.text) + "</p>\n  </article></li>\n";
}

std::string invalid(const std::string& fault) { return fault.empty() ? "" : " aria-invalid=\"true\""; }

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string page(const std::vector<message>& messages, const attempt& tried) {
    std::string items;
    for (const message& m : std::views::reverse(messages)) items += item(m);
    return filled(page_html.content, {
                                         {"css version", std::string(board_css.version)},
                                         {"js version", std::string(board_js.version)},
                                         {"icon version", std::string(icon_svg.version)},
                                         {"name", escaped(tried.what.name)},
                                         {"name fault", escaped(tried.wrong.name)},
                                         {"name invalid", invalid(tried.wrong.name)},
                                         {"text", escaped(tried.what.text)},
                                         {"text fault", escaped(tried.wrong.text)},
                                         {"text invalid", invalid(tried.wrong.text)},
                                         {"some hidden", messages.empty() ? "" : " hidden"},
                                         {"newest", messages.empty() ? "0" : std::to_string(messages.back().id)},
                                         {"messages", items},
                                     });
}

}  // namespace board
