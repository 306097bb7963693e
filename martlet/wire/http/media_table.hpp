// media_table: the content type of a file by the end of its name, for files that are served.
#pragma once

#include <string_view>

#include <martlet/wire/http/content_type.hpp>

namespace martlet::inline v0::http {

/// The content type for `extension`, without its dot and compared without case; `application/octet-stream` when it is not in the table. Text
/// is said to be UTF-8.
content_type content_type_of_extension(std::string_view extension) noexcept;

/// The same for a file's name or path: by what follows the last dot of the last segment. A name that begins with its only dot has no extension.
content_type content_type_of_file(std::string_view path) noexcept;

}  // namespace martlet::inline v0::http
