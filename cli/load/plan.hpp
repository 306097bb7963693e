// plan: what is to be asked of whom, how often and for how long. Checked and encoded once, then only read, by all threads.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <martlet/base/time.hpp>
#include <martlet/net/address.hpp>
#include <martlet/wire/http/method.hpp>

#include "sha256.hpp"

namespace load {

/// What an answer must be like. What is not said is not checked; framing always is.
struct expectation {
    static constexpr std::size_t statuses = 1000;

    std::bitset<statuses> status;
    std::optional<std::uint64_t> content_bytes;
    std::optional<sha256::digest> hash;
};

/// One request, encoded, with its share of all.
struct target {
    std::string url;  // as it was given
    martlet::net::address where;
    martlet::http::method method = martlet::http::method::get;
    std::string request;
    unsigned share = 1;
    bool closes = false;  // each request has a connection of its own
};

struct plan {
    static constexpr unsigned connections_max = 1'000'000;
    static constexpr unsigned threads_max = 1024;
    static constexpr unsigned depth_max = 1024;
    static constexpr unsigned share_max = 1'000'000;
    static constexpr std::size_t targets_max = 64;

    std::vector<target> targets;
    expectation expected;
    unsigned connections = 10;
    unsigned threads = 1;
    unsigned depth = 1;
    /// Requests a second of all targets together; none: each connection asks again once it is answered.
    std::optional<double> rate;
    /// None: as many as fit into `length`.
    std::optional<std::uint64_t> requests;
    /// Includes the warm-up.
    martlet::duration length = std::chrono::seconds(10);
    martlet::duration warmup{};
    /// The rate rises evenly from nothing over so long.
    martlet::duration ramp{};
    martlet::duration timeout = std::chrono::seconds(10);

    bool is_open() const noexcept { return rate.has_value(); }
};

}  // namespace load
