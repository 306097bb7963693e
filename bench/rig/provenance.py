"""Where programs and sources come from: how a program was built, and what in the tree differs from its commit."""

import hashlib
import os
import re
import subprocess

from . import machine

NOT_COUNTED = "bench/artifacts"
NOT_MEASURED = (f"{NOT_COUNTED}/", "docs/")  # a commit that changes nothing else leaves every figure as it was


def cache_of(binary):
    """The CMakeCache.txt of the build that `binary` lies in, or None."""
    folder = os.path.dirname(os.path.abspath(binary))
    for _ in range(3):
        path = os.path.join(folder, "CMakeCache.txt")
        if os.path.exists(path):
            return path
        folder = os.path.dirname(folder)
    return None


def build_facts(binary):
    """Build type, flags and sanitizers of `binary` as its build folder says; type None when there is none that says it."""
    path = cache_of(binary)
    if path is None:
        return {"program": os.path.basename(binary), "type": None, "flags": "", "sanitizers": ""}
    kept = dict(re.findall(r"^([A-Za-z_]+):\w+=(.*)$", machine.read(path), re.MULTILINE))
    kind = kept.get("CMAKE_BUILD_TYPE", "")
    flags = f"{kept.get('CMAKE_CXX_FLAGS', '')} {kept.get('CMAKE_CXX_FLAGS_' + kind.upper(), '')}".strip()
    return {"program": os.path.basename(binary), "type": kind, "flags": flags, "sanitizers": kept.get("MARTLET_SANITIZE", "")}


def git(root, *words):
    try:
        done = subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def source_facts(root):
    """The commit, a digest of what in it is measured, and the paths that differ from it but for records of runs; a tree without a commit is
    dirty as a whole."""
    commit = git(root, "rev-parse", "HEAD")
    listed = git(root, "ls-tree", "-r", "HEAD")
    status = git(root, "status", "--porcelain", "--untracked-files=all", "--", ".", f":!{NOT_COUNTED}")
    if commit is None or status is None or listed is None:
        return {"commit": "unknown", "tree": "unknown", "dirty": ["the tree has no commit"]}
    measured = [line for line in listed.splitlines() if not line.partition("\t")[2].startswith(NOT_MEASURED)]
    tree = hashlib.sha256("\n".join(measured).encode()).hexdigest()
    return {"commit": commit.strip(), "tree": tree, "dirty": [line[3:] for line in status.splitlines()]}
