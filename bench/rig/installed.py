"""Builds the measured programs as a user would: against a package that was installed, outside the project's own build."""

import os
import shutil
import subprocess

from .process import Refused

FLAGS = {"release": "-O2", "profile": "-O2 -g -march=x86-64-v3"}


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Refused(f"'{' '.join(command)}' failed: {done.stdout.strip()[-400:]}")


def build(root, preset, progress):
    """Installs what `preset` builds and builds bench/consumer against it; returns the folder of its programs."""
    work = os.path.join(root, "build", "bench-installed", preset)
    prefix, tree = os.path.join(work, "prefix"), os.path.join(work, "consumer")
    progress(f"building and installing with preset {preset}, and a consumer of it")
    run("cmake", "-S", root, "--preset", preset)
    run("cmake", "--build", os.path.join(root, "build", preset), "--parallel", str(os.cpu_count() or 1), "--target", "martlet-libraries")
    shutil.rmtree(work, ignore_errors=True)
    run("cmake", "--install", os.path.join(root, "build", preset), "--prefix", prefix)
    run("cmake", "-G", "Ninja", "-S", os.path.join(root, "bench", "consumer"), "-B", tree, f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_FLAGS_RELEASE={FLAGS[preset]}", "-DCMAKE_CXX_COMPILER=g++")
    run("cmake", "--build", tree)
    return tree
