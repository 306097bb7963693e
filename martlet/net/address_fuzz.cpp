// What is read as an address is written in a form that is read as the same address.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <martlet/base/assert.hpp>
#include <martlet/net/address.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using martlet::net::address;
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto read = address::parse(text)) {
        const auto again = address::parse(read->text());
        MARTLET_ASSERT(again.has_value() && *again == *read, "an address that was read can be written and read again");
        MARTLET_ASSERT(again->text() == read->text(), "an address has one text");
        MARTLET_ASSERT(address::from_system(read->data(), read->size()) == *read, "the system's form gives the address back");
    }
    const auto raw = address::from_system(data, static_cast<unsigned>(size));
    MARTLET_ASSERT(raw.text().size() <= 128 && raw.unmapped().size() <= address::storage_bytes, "any bytes give an address or none");
    return 0;
}
