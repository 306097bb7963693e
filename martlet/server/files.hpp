// files: a handler that serves what is in a directory.
#pragma once

#include <string>

#include <martlet/server/handler.hpp>

namespace martlet::inline v0::server {

/// A handler for a route that ends in `*rest`, which names a file below `directory`: app.get("/static/*path", files("www")).
///
/// No path leads out of the directory, neither by "..", in whatever spelling, nor by a link. Names that begin with a dot are not served, but
/// for ".well-known". A path that is a directory is redirected to the same with '/' behind it, and there its index.html is served. All else
/// is as with response::file(). The directory is opened here and stays the same one; throws std::system_error when that fails.
handler files(const std::string& directory);

}  // namespace martlet::inline v0::server
