#include <martlet/wire/http/field.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace martlet::http {
namespace {

std::string in_case(std::string_view text, bool upper) {
    std::string changed(text);
    for (char& c : changed)
        c = static_cast<char>(upper ? std::toupper(static_cast<unsigned char>(c)) : std::tolower(static_cast<unsigned char>(c)));
    return changed;
}

field_id id_at(std::size_t i) { return static_cast<field_id>(i); }

TEST(field_names, each_is_found_by_its_name_in_any_case) {
    std::set<std::string> seen;
    for (std::size_t i = 1; i < field_ids; ++i) {
        const std::string_view name = text(id_at(i));
        ASSERT_FALSE(name.empty()) << i;
        EXPECT_TRUE(seen.insert(in_case(name, false)).second) << name;
        EXPECT_EQ(field_id_of(name), id_at(i)) << name;
        EXPECT_EQ(field_id_of(in_case(name, true)), id_at(i)) << name;
        EXPECT_EQ(field_id_of(in_case(name, false)), id_at(i)) << name;
    }
}

TEST(field_names, one_byte_more_less_or_other_is_another_name) {
    for (std::size_t i = 1; i < field_ids; ++i) {
        const std::string name(text(id_at(i)));
        EXPECT_EQ(field_id_of(name + "x"), field_id::other) << name;
        for (std::size_t at = 0; at < name.size(); ++at) {
            std::string changed = name;
            changed[at] = changed[at] == '!' ? '#' : '!';
            EXPECT_EQ(field_id_of(changed), field_id::other) << changed;
            // A byte that differs from '-' in the case bit only.
            if (name[at] == '-') {
                changed[at] = '\r';
                EXPECT_EQ(field_id_of(changed), field_id::other) << name << at;
            }
        }
    }
    EXPECT_EQ(field_id_of("Hos"), field_id::other);
    EXPECT_EQ(field_id_of("T"), field_id::other);
    EXPECT_EQ(field_id_of(""), field_id::other);
}

TEST(field_names, are_stored_with_their_colon_and_zeros_behind_it) {
    for (std::size_t i = 1; i < field_ids; ++i) {
        const field_name_entry& entry = field_names[i];
        EXPECT_EQ(entry.text[entry.size], ':');
        for (std::size_t at = entry.size + 1u; at < sizeof(entry.text); ++at) EXPECT_EQ(entry.text[at], 0);
        EXPECT_EQ(text_with_colon(id_at(i)), std::string(text(id_at(i))) + ":");
    }
    EXPECT_EQ(text(field_id::other), "");
    EXPECT_EQ(text_with_colon(field_id::other), "");
}

TEST(field_names, spellings_and_flags) {
    EXPECT_EQ(text(field_id::te), "TE");
    EXPECT_EQ(text(field_id::etag), "ETag");
    EXPECT_EQ(text(field_id::www_authenticate), "WWW-Authenticate");
    EXPECT_EQ(text(field_id::sec_websocket_key), "Sec-WebSocket-Key");
    EXPECT_EQ(text(field_id::x_forwarded_for), "X-Forwarded-For");
    EXPECT_EQ(static_cast<int>(field_id::accept_ranges), 64);
    EXPECT_TRUE(is_singleton(field_id::host));
    EXPECT_TRUE(is_singleton(field_id::content_length));
    EXPECT_TRUE(is_singleton(field_id::content_type));
    EXPECT_FALSE(is_singleton(field_id::cookie));
    EXPECT_FALSE(is_singleton(field_id::connection));
    EXPECT_TRUE(is_framing(field_id::transfer_encoding));
    EXPECT_FALSE(is_framing(field_id::accept));
    EXPECT_TRUE(is_hop_by_hop(field_id::upgrade));
    EXPECT_FALSE(is_hop_by_hop(field_id::host));
}

}  // namespace
}  // namespace martlet::http
