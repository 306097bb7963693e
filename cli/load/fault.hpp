// fault: every way in which a request can fail to get a right answer. Each is counted apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace load {

enum class fault : std::uint8_t {
    connect_refused,
    connect_timeout,
    connect_failed,  ///< in another way
    reset,
    closed_early,  ///< the peer ended the connection before the answer was whole
    timeout,
    bad_head,     ///< no HTTP, or a head that could be read in two ways
    bad_content,  ///< chunks that are none
    surplus,      ///< bytes that answer no request
    wrong_status,
    wrong_length,
    wrong_hash,
    dropped,  ///< pipelined behind an answer or a failure that ended the connection
    other,    ///< the system: no memory, no network
};

inline constexpr std::size_t fault_count = 14;

/// As in the JSON report.
inline constexpr std::array<std::string_view, fault_count> fault_names = {
    "connect_refused", "connect_timeout", "connect_failed", "reset",        "closed_early", "timeout", "bad_head",
    "bad_content",     "surplus",         "wrong_status",   "wrong_length", "wrong_hash",   "dropped", "other"};

/// As a person reads it.
inline constexpr std::array<std::string_view, fault_count> fault_texts = {"connection refused",
                                                                          "no connection within the timeout",
                                                                          "no connection for another reason",
                                                                          "connection reset",
                                                                          "closed before the answer was whole",
                                                                          "no answer within the timeout",
                                                                          "answer with a head that is no HTTP",
                                                                          "answer with content that is badly framed",
                                                                          "bytes that answer no request",
                                                                          "wrong status",
                                                                          "wrong length",
                                                                          "wrong hash",
                                                                          "unanswered because the connection ended",
                                                                          "trouble of this machine"};

constexpr std::size_t index_of(fault of) noexcept { return static_cast<std::size_t>(of); }

}  // namespace load
