// Patterns and paths, a line each with an empty line between: the router takes what a router takes that looks at every pattern.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <martlet/base/assert.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/testing_patterns_internal.hpp>

namespace {

using namespace martlet::server;

std::string taken(const router& app, std::string_view path) {
    path_params params;
    const route* found = app.find(path, params);
    if (found == nullptr) return "none";
    std::string all = found->path();
    for (std::size_t i = 0; i < params.size(); ++i) all += " " + found->param_names()[i] + "=" + std::string(params.at(i, path));
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    router app;
    testing::slow_router slow;
    bool patterns = true;
    while (!rest.empty()) {
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
        if (line.empty()) {
            patterns = false;
        } else if (!patterns) {
            MARTLET_ASSERT(taken(app, line) == slow.taken(line), "both routers take the same route");
        } else {
            try {
                app.get(line, [](request&, response&) {});
                slow.add(line);
            } catch (const std::invalid_argument&) {
                continue;
            }
        }
    }
    return 0;
}
