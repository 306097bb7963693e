"""The C++ files of the tree and their includes."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("martlet", "cli", "examples", "tests", "bench")
TEST_SUFFIXES = ("_test.cpp", "_simtest.cpp", "_threadtest.cpp", "_fuzz.cpp", "_bench.cpp", "_test.hpp", "testing_internal.hpp", "stepping_internal.hpp")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

STANDARD = frozenset("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath codecvt
compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar
cwctype deque exception execution expected filesystem format forward_list fstream functional future generator initializer_list iomanip ios
iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream print queue
random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept
stdfloat stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
unordered_set utility valarray variant vector version
""".split())


def files(*suffixes, root=ROOT, folders=FOLDERS):
    """Every file under the folders that ends in one of the suffixes, sorted."""
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.name.endswith(suffixes):
                found.append(path)
    return sorted(found)


def includes(path):
    """(line, is quoted, header) of each include. A header in a comment or a raw string would be taken for one; there is none."""
    text = path.read_text()
    return [(text.count("\n", 0, m.start()) + 1, m.group(1) == '"', m.group(2)) for m in INCLUDE.finditer(text)]


def closure(path, root):
    """The file and all of the tree's own files that it brings in."""
    seen, todo = set(), [path]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            for _, quoted, header in includes(at):
                todo += [found for found in (root / header, at.parent / header if quoted else None) if found and found.is_file()]
    return sorted(seen)


def fingerprint(paths, root, salt):
    """Changes when one of the files, or anything of the tree that they bring in, does."""
    digest = hashlib.sha256(salt.encode())
    for path in paths:
        for part in closure(path, root):
            digest.update(str(part.relative_to(root)).encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()


def is_test(path):
    return path.name.endswith(TEST_SUFFIXES)


def is_public_header(path):
    """Below martlet/, but not what a folder keeps for itself."""
    return path.suffix == ".hpp" and not path.name.endswith(("_internal.hpp", "_test.hpp")) and not {"detail", "sim"} & set(path.parts)
