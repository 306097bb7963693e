// Patterns and paths, a line each with an empty line between: the router takes what a router takes that looks at every pattern, and the order
// in which they were added does not matter.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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
    router app, backwards;
    std::vector<std::string> added;
    testing::slow_router slow;
    bool patterns = true;
    while (!rest.empty()) {
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
        if (line.empty()) {
            // One that was taken is taken in any order: it is refused for itself or for meeting another.
            for (; patterns && !added.empty(); added.pop_back()) backwards.get(added.back(), [](request&, response&) {});
            patterns = false;
        } else if (!patterns) {
            MARTLET_ASSERT(taken(app, line) == slow.taken(line), "both routers take the same route");
            MARTLET_ASSERT(taken(backwards, line) == taken(app, line), "the order of patterns does not matter");
        } else {
            try {
                app.get(line, [](request&, response&) {});
                slow.add(line);
                added.push_back(line);
            } catch (const std::invalid_argument&) {
                continue;
            }
        }
    }
    return 0;
}
