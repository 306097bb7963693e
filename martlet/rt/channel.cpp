#include <martlet/rt/channel.hpp>

namespace martlet::inline v0 {

namespace {

std::string_view text_of(int) noexcept { return "the channel is closed"; }

constinit const error_category channel_category("channel", text_of);

}  // namespace

constinit const error channel_closed(channel_category, 1, blame::local);

}  // namespace martlet::inline v0
