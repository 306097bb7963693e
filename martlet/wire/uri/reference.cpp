#include <martlet/wire/uri/reference.hpp>

#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/authority.hpp>
#include <martlet/wire/uri/error.hpp>

namespace martlet::inline v0::uri {

namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_letter(char c) noexcept {
    const char low = scan::lower(c);
    return low >= 'a' && low <= 'z';
}

// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
bool is_scheme(std::string_view text) noexcept {
    if (text.empty() || !is_letter(text[0])) return false;
    for (const char c : text) {
        if (!is_letter(c) && !scan::is_in(scan::byte_class::digit, c) && c != '+' && c != '-' && c != '.') return false;
    }
    return true;
}

// Nothing when each byte of `text` is an escape, in the path class, or in `more`.
std::optional<errc> problem_of(std::string_view text, std::string_view more) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3 || !scan::all_in(scan::byte_class::hex_digit, text.substr(i + 1, 2))) return errc::bad_escape;
            i += 2;
        } else if (!scan::is_in(scan::byte_class::path, c) && more.find(c) == npos) {
            return errc::bad_byte;
        }
    }
    return std::nullopt;
}

// userinfo = *( unreserved / pct-encoded / sub-delims / ":" )
std::optional<errc> userinfo_problem_of(std::string_view text) noexcept {
    if (text.find_first_of("@/") != npos) return errc::bad_authority;
    return problem_of(text, {});
}

void write_reference(std::string& out, std::string_view before, const std::optional<std::string_view>& part) {
    if (!part) return;
    out += before;
    out += *part;
}

// Section 5.2.3: the base's path up to its last '/', and the relative path behind it.
std::string merged_path(const reference& base, std::string_view path) {
    if (base.authority() && base.path().empty()) return std::string("/").append(path);
    const std::size_t slash = base.path().rfind('/');
    return std::string(base.path().substr(0, slash == npos ? 0 : slash + 1)).append(path);
}

}  // namespace

result<reference> reference::parse(std::string_view text) noexcept {
    reference made;
    const auto refused = [](errc code) { return failure(make_error(code, blame::peer)); };
    if (const std::size_t hash = text.find('#'); hash != npos) {
        made.fragment_ = text.substr(hash + 1);
        text = text.substr(0, hash);
        if (const auto problem = problem_of(*made.fragment_, "?")) return refused(*problem);
    }
    if (const std::size_t mark = text.find('?'); mark != npos) {
        made.query_ = text.substr(mark + 1);
        text = text.substr(0, mark);
        if (const auto problem = problem_of(*made.query_, "?")) return refused(*problem);
    }
    // A colon in the first segment ends a scheme: a relative path has none there (section 4.2).
    if (const std::size_t colon = text.find(':'); colon != npos && colon < text.find('/')) {
        if (!is_scheme(text.substr(0, colon))) return refused(errc::bad_scheme);
        made.scheme_ = text.substr(0, colon);
        text = text.substr(colon + 1);
    }
    if (text.starts_with("//")) {
        text = text.substr(2);
        const std::size_t end = std::min(text.find('/'), text.size());
        std::string_view where = text.substr(0, end);
        text = text.substr(end);
        if (const std::size_t at = where.rfind('@'); at != npos) {
            made.userinfo_ = where.substr(0, at);
            if (const auto problem = userinfo_problem_of(*made.userinfo_)) return refused(*problem);
            where = where.substr(at + 1);
        }
        if ((made.userinfo_ || !where.empty()) && !http::authority::parse(where)) return refused(errc::bad_authority);
        made.authority_ = where;
    }
    if (const auto problem = problem_of(text, {})) return refused(*problem);
    made.path_ = text;
    return made;
}

void append_without_dot_segments(std::string& out, std::string_view path) {
    const std::size_t root = out.size();
    // Each turn takes one segment with the '/' before it.
    while (!path.empty()) {
        const bool slash = path.starts_with('/');
        const std::size_t end = std::min(path.find('/', slash ? 1 : 0), path.size());
        const std::string_view piece = path.substr(0, end);
        const std::string_view segment = piece.substr(slash ? 1 : 0);
        path = path.substr(end);
        if (segment != "." && segment != "..") {
            out += piece;
            continue;
        }
        if (!slash) {
            if (!path.empty()) path.remove_prefix(1);
            continue;
        }
        if (segment == "..") {
            const std::size_t cut = std::string_view(out).substr(root).rfind('/');
            out.resize(cut == npos ? root : root + cut);
        }
        if (path.empty()) out += '/';
    }
}

result<std::string> resolve(const reference& base, const reference& relative) {
    if (!base.is_absolute()) return failure(make_error(errc::bad_scheme, blame::local));
    const bool own_authority = relative.is_absolute() || relative.authority().has_value();
    const reference& where = own_authority ? relative : base;
    const bool same_document = !own_authority && relative.path().empty();

    std::string out;
    out += relative.is_absolute() ? *relative.scheme() : *base.scheme();
    out += ':';
    if (where.authority()) {
        out += "//";
        if (where.userinfo()) out.append(*where.userinfo()).append("@");
        out += *where.authority();
    }
    const std::size_t path_from = out.size();
    if (same_document) {
        out += base.path();
    } else if (own_authority || relative.path().starts_with('/')) {
        append_without_dot_segments(out, relative.path());
    } else {
        append_without_dot_segments(out, merged_path(base, relative.path()));
    }
    // A path that begins with "//" would read as an authority where there is none.
    if (!where.authority() && std::string_view(out).substr(path_from).starts_with("//")) out.insert(path_from, "/.");
    write_reference(out, "?", same_document && !relative.query() ? base.query() : relative.query());
    write_reference(out, "#", relative.fragment());
    return out;
}

}  // namespace martlet::inline v0::uri
