// prepared: answers made beforehand, of which only the Date is written again each second. What the floors send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "socket_loop.hpp"

namespace bench {

class prepared_answers {
public:
    /// Answers with what the file holds, a whole answer with a Date; without a name with the hello world that all programs give.
    explicit prepared_answers(const std::string& file_name) {
        const std::string one = file_name.empty() ? hello() : read(file_name);
        answer_bytes_ = one.size();
        const std::size_t date = one.find("\r\nDate: ");
        if (date == std::string::npos || date + 8 + date_bytes > one.find("\r\n\r\n")) {
            std::fprintf(stderr, "%s holds no answer with a Date\n", file_name.c_str());
            std::exit(1);
        }
        date_offset_ = date + 8;
        count_ = std::clamp<std::size_t>(bytes_max / answer_bytes_, 1, count_max);
        for (std::size_t i = 0; i < count_; ++i) bytes_ += one;
    }

    void tick(std::time_t second) {
        char date[date_bytes];
        write_date(date, second);
        for (std::size_t i = 0; i < count_; ++i) std::memcpy(bytes_.data() + i * answer_bytes_ + date_offset_, date, date_bytes);
    }

    void send(std::size_t answers, sender& out) const {
        while (answers > count_) [[unlikely]] {
            out.send(bytes_.data(), count_ * answer_bytes_);
            answers -= count_;
        }
        if (answers != 0) out.send(bytes_.data(), answers * answer_bytes_);
    }

private:
    static constexpr std::size_t count_max = 256;
    static constexpr std::size_t bytes_max = 1024 * 1024;

    static std::string hello() {
        std::string one;
        one.append(status_line).append(server_field).append(date_name).append(date_bytes, ' ').append("\r\n").append(type_field);
        return one.append(length_name).append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    }

    static std::string read(const std::string& file_name) {
        std::ifstream file(file_name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }

    std::size_t answer_bytes_ = 0;
    std::size_t date_offset_ = 0;
    std::size_t count_ = 0;
    std::string bytes_;
};

}  // namespace bench
