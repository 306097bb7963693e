// assets: the files of assets/, put into the program by embed.cmake. page.html is page_html here.
#pragma once

#include <string_view>

namespace board {

struct asset {
    std::string_view content;
    std::string_view version;  // changes with the content
};

extern const asset page_html;
extern const asset board_css;
extern const asset board_js;
extern const asset icon_svg;

}  // namespace board
