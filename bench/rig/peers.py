"""The servers that bench/run compares with: what each is, how it is built, and how it is started. Their programs are in bench/peers.

Every build goes to build/peers/NAME and is reused while its sources, its manifest and the tools that built it are the same. One that
cannot be built is refused with the reason and, where one would help, the package.
"""

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess

from .process import Refused

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "bench", "peers")
STARTER = os.path.join(SOURCES, "serve_with_config")
BUILDS = os.path.join(ROOT, "build", "peers")
BUILD_SECONDS_MAX = 1200
ASKED_FOR_VERSION = {"rustc": ["rustc", "--version"], "go": ["go", "version"], "g++": ["g++", "--version"], "node": ["node", "--version"],
                     "javac": ["javac", "-version"]}
# Debian 12 has 1.19.
GO_MIN = (1, 26)
# As the project's own programs.
CXX_FLAGS = ["-std=c++17", "-O2", "-DNDEBUG", "-march=x86-64-v3", "-flto", "-pthread"]


@dataclasses.dataclass(frozen=True)
class Built:
    """`command` takes `--port N`; `callgrind`: whether valgrind can count it."""

    command: list
    version: str
    callgrind: bool


@dataclasses.dataclass(frozen=True)
class Peer:
    """`make(peer, folder)` builds in a folder of its own and returns a Built."""

    name: str
    title: str
    settings: str
    make: object
    needs: dict = dataclasses.field(default_factory=dict)  # the package for each tool or file
    dates: bool = True
    skipped_loads: dict = dataclasses.field(default_factory=dict)
    connections_max: int | None = None

    @property
    def source(self):
        return os.path.join(SOURCES, self.name)

    def missing(self):
        return [(tool, package) for tool, package in self.needs.items() if not is_there(tool)]

    def build(self, progress=lambda text: None):
        for tool, package in self.missing():
            raise Refused(f"{os.path.basename(tool)} is missing: apt-get install {package}, or bench/peers/install for all of them")
        check_manifest(self.source)
        folder = os.path.join(BUILDS, self.name)
        stamp = fingerprint(self)
        kept = os.path.join(folder, "built.json")
        try:
            with open(kept, encoding="utf-8") as file:
                found = json.load(file)
            if found["stamp"] == stamp and all(is_there(word) for word in found["command"] if word.startswith(os.sep)):
                return Built(found["command"], found["version"], found["callgrind"])
        except (OSError, ValueError, KeyError):
            pass
        progress(f"building {self.name}, for the first time or anew")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        built = self.make(self, folder)
        with open(kept, "w", encoding="utf-8") as file:
            json.dump({"stamp": stamp, **dataclasses.asdict(built)}, file, indent=1)
        return built


def is_there(tool):
    return os.path.exists(tool) if os.sep in tool else shutil.which(tool) is not None


def run(command, folder, **environment):
    """What a command printed; Refused with the last of it when it fails."""
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BUILD_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        raise Refused(f"'{' '.join(command)}' took more than {BUILD_SECONDS_MAX} s") from None
    if done.returncode:
        said = " / ".join(line for line in done.stdout.strip().splitlines()[-4:])
        raise Refused(f"'{' '.join(command)}' failed: {said[-400:]}")
    return done.stdout.strip()


def fingerprint(peer):
    """Of the sources, of what builds and starts them, and of the tools' versions."""
    sum_of = hashlib.sha256()
    for path in (os.path.abspath(__file__), STARTER):
        with open(path, "rb") as file:
            sum_of.update(file.read())
    for folder, folders, files in os.walk(peer.source):
        folders.sort()
        for name in sorted(files):
            sum_of.update(name.encode())
            with open(os.path.join(folder, name), "rb") as file:
                sum_of.update(file.read())
    sum_of.update(" ".join(CXX_FLAGS).encode())
    for tool in sorted(peer.needs):
        path = tool if os.sep in tool else shutil.which(tool)
        sum_of.update(f"{path} {os.stat(path).st_size} {os.stat(path).st_mtime_ns}".encode())
        if tool in ASKED_FOR_VERSION:  # rustup and others stand in front of what really builds
            sum_of.update(run(ASKED_FOR_VERSION[tool], ROOT).encode())
    return sum_of.hexdigest()


def check_manifest(folder):
    """Every dependency that a manifest names has one exact version."""
    cargo, go = os.path.join(folder, "Cargo.toml"), os.path.join(folder, "go.mod")
    if os.path.exists(cargo):
        with open(cargo, encoding="utf-8") as file:
            part = file.read().partition("[dependencies]")[2].partition("\n[")[0]
        for line in filter(None, (line.partition("#")[0].strip() for line in part.splitlines())):
            version = re.search(r'version\s*=\s*"([^"]*)"', line) or re.search(r'=\s*"([^"]*)"', line)
            if version is None or not re.fullmatch(r"=\d+\.\d+\.\d+", version.group(1)):
                raise Refused(f"Cargo.toml gives no exact version: '{line}'; write \"=1.2.3\"")
    if os.path.exists(go):
        with open(go, encoding="utf-8") as file:
            for line in file:
                wanted = re.match(r"\s*(?:require\s+)?([\w./-]+\.[\w./-]+/\S+)\s+(\S+)", line)
                if wanted and not re.fullmatch(r"v\d+\.\d+\.\d+", wanted.group(2)):
                    raise Refused(f"go.mod gives no exact version: '{line.strip()}'; write v1.2.3")


def first(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"


# Manifests are copied, so that what the tools write beside them stays in the build.
def copied(peer, folder):
    inside = os.path.join(folder, "source")
    shutil.copytree(peer.source, inside)
    return inside


def cargo(peer, folder):
    inside = copied(peer, folder)
    run(["nice", "cargo", "build", "--release", "--target-dir", os.path.join(folder, "target")], inside, RUSTFLAGS="-C target-cpu=x86-64-v3")
    compiler = first(r"rustc (\S+)", run(["rustc", "--version"], inside))
    with open(os.path.join(inside, "Cargo.toml"), encoding="utf-8") as file:
        own = first(r'\nhyper = .*?version = "=([^"]+)"', file.read())
    version = f"hyper {own}, rustc {compiler}" if own != "unknown" else f"rustc {compiler}"
    return Built([os.path.join(folder, "target", "release", f"peer-{peer.name.replace('_', '-')}")], version, True)


def go(peer, folder):
    found = first(r"go(\d+\.\d+)", run(["go", "version"], folder))
    if tuple(int(part) for part in found.split(".")) < GO_MIN:
        raise Refused(f"Go {found} is too old, {GO_MIN[0]}.{GO_MIN[1]} is wanted: Debian's is older, Go's own site has it")
    inside = copied(peer, folder)
    program = os.path.join(folder, f"peer-{peer.name}")
    run(["go", "mod", "tidy"], inside, GOTOOLCHAIN="local")
    run(["nice", "go", "build", "-o", program, "."], inside, GOTOOLCHAIN="local", GOAMD64="v3")
    compiler = first(r"go(\d\S+)", run(["go", "version"], inside))
    with open(os.path.join(inside, "go.mod"), encoding="utf-8") as file:
        own = first(r"fasthttp v(\S+)", file.read())
    # valgrind does not follow Go's stacks.
    return Built([program], (f"fasthttp {own}, " if own != "unknown" else "") + f"Go {compiler}", False)


def cxx(*libraries, version):
    def make(peer, folder):
        program = os.path.join(folder, f"peer-{peer.name.replace('_', '-')}")
        run(["g++", *CXX_FLAGS, "-o", program, os.path.join(peer.source, "main.cpp"), *libraries], folder)
        return Built([program], f"{version()}, g++ {run(['g++', '-dumpfullversion'], folder)}", True)

    return make


def boost_version():
    with open("/usr/include/boost/version.hpp", encoding="utf-8") as file:
        return "Boost " + first(r'BOOST_LIB_VERSION "([\d_]+)"', file.read()).replace("_", ".")


def package_version(package):
    return f"{package} {first(r'(?m)^Version: (.+)$', run(['dpkg', '-s', package], ROOT))}"


def configured(program, config, version):
    def make(peer, folder):
        start = [STARTER, shutil.which(program) or program, os.path.join(peer.source, config)]
        return Built([*start, os.path.join(folder, "run")], version(folder), False)

    return make


def node(peer, folder):
    return Built([shutil.which("node"), os.path.join(peer.source, "main.mjs")], f"Node {run(['node', '--version'], folder).lstrip('v')}", False)


def jdk(peer, folder):
    run(["javac", "-d", folder, os.path.join(peer.source, "Main.java")], folder)
    idle = ["-Dsun.net.httpserver.nodelay=true", "-Dsun.net.httpserver.maxIdleConnections=20000", "-Dsun.net.httpserver.idleInterval=3600"]
    version = first(r'"([^"]+)"', run(["java", "-version"], folder))
    return Built([shutil.which("java"), "-XX:ActiveProcessorCount=1", *idle, "-cp", folder, "Main"], f"JDK {version}", False)


LOSES = "it loses what it read behind a request"
PEERS = {peer.name: peer for peer in (
    Peer("hyper", "hyper", "one current_thread runtime of tokio; fat LTO, one codegen unit, panic=abort, x86-64-v3; pipeline_flush, TCP_NODELAY",
         cargo, {"cargo": "cargo", "rustc": "rustc"}),
    Peer("fasthttp", "fasthttp", "GOMAXPROCS 1, its defaults", go, {"go": f"golang, of version {GO_MIN[0]}.{GO_MIN[1]} or newer"}),
    Peer("net_http", "Go net/http", "GOMAXPROCS 1, ServeMux, its defaults", go, {"go": f"golang, of version {GO_MIN[0]}.{GO_MIN[1]} or newer"}),
    Peer("nginx", "nginx", "one worker, return 200, no log, connections that do not end by count",
         configured("nginx", "nginx.conf", lambda folder: "nginx " + first(r"nginx/(\S+)", run(["nginx", "-v"], folder))),
         {"/usr/sbin/nginx": "nginx-light"}),
    Peer("h2o", "h2o", "one thread, a file of 13 bytes, no log",
         configured("h2o", "h2o.conf", lambda folder: "h2o " + first(r"version (\S+)", run(["h2o", "--version"], folder))), {"h2o": "h2o"}),
    Peer("node", "Node http", "one process, its defaults but for timeouts", node, {"node": "nodejs"}),
    Peer("jdk", "JDK HttpServer", "the handler on the dispatcher's thread, TCP_NODELAY; one processor, so the serial collector", jdk,
         {"javac": "openjdk-17-jdk-headless", "java": "openjdk-17-jre-headless"}),
    Peer("rust_threads", "a thread for each connection", "Rust's standard library, blocking, 64 KiB of stack; it checks little and has no limits",
         cargo, {"cargo": "cargo", "rustc": "rustc"}),
    Peer("beast", "Boost.Beast", "callbacks on one thread, flat_static_buffer, empty_body and string_body; -O2, LTO, x86-64-v3",
         cxx(version=boost_version), {"g++": "g++", "/usr/include/boost/beast/http.hpp": "libboost-dev"}),
    Peer("cpp_httplib", "cpp-httplib", "a pool of 1,100 threads, since each connection keeps one; TCP_NODELAY; -O2, LTO, x86-64-v3",
         cxx("-lcpp-httplib", version=lambda: package_version("libcpp-httplib-dev")),
         {"g++": "g++", "/usr/include/httplib.h": "libcpp-httplib-dev"}, dates=False,
         skipped_loads={"d16": LOSES, "d16-browser": LOSES, "d1-browser": "it compresses 13 bytes when a browser allows it, and has no switch"},
         connections_max=1100),
)}
