#!/usr/bin/env python3
"""Shows what becomes of a peer that cannot be built, and that manifests must be exact. Builds none: bench/peers/check does that.

Says 'passed NAME', 'failed NAME: why' or 'skipped NAME: why', one case a line. Run: bench/peers_test.py [CASE...].
"""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from rig import cases, loads, peers, subjects  # noqa: E402
from rig.process import Refused  # noqa: E402


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


class Builds(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(peers, "SOURCES", self.folder))
        self.enterContext(mock.patch.object(peers, "BUILDS", os.path.join(self.folder, "build")))
        os.makedirs(os.path.join(self.folder, "made"))
        self.built = []

    def peer(self, make=None, needs=None, name="made"):
        def made(peer, folder):
            self.built.append(folder)
            return peers.Built([script(folder, "server", "exit 0\n")], "made 1.0", False)
        return peers.Peer(name, "made up", "none", make or made, needs or {})

    def write(self, name, text):
        with open(os.path.join(self.folder, "made", name), "w", encoding="ascii") as file:
            file.write(text)

    def refusal(self, peer):
        with self.assertRaises(Refused) as refused:
            peer.build()
        return str(refused.exception)

    def test_a_tool_that_is_missing_is_named_with_its_package(self):
        said = self.refusal(self.peer(needs={"no-such-compiler": "its-package"}))
        self.assertIn("no-such-compiler is missing: apt-get install its-package", said)
        self.assertEqual(self.built, [])

    def test_what_a_failed_build_said_is_told(self):
        def fails(peer, folder):
            peers.run([script(folder, "compiler", "echo the registry cannot be reached; exit 3\n")], folder)
        self.assertIn("the registry cannot be reached", self.refusal(self.peer(fails)))

    def test_a_build_is_kept_while_its_sources_are_the_same(self):
        self.write("main.txt", "one")
        self.assertEqual(self.peer().build().version, "made 1.0")
        self.peer().build()
        self.assertEqual(len(self.built), 1)
        self.write("main.txt", "two")
        self.peer().build()
        self.assertEqual(len(self.built), 2)
        os.remove(os.path.join(self.folder, "build", "made", "server"))
        self.peer().build()
        self.assertEqual(len(self.built), 3, "what is gone is built anew")

    def test_a_build_is_made_anew_when_what_builds_or_starts_it_has_changed(self):
        self.write("main.txt", "one")
        for count, name in enumerate(("__file__", "STARTER"), 1):
            path = script(self.folder, f"replaced-{count}", "exit 0\n")
            with mock.patch.object(peers, name, path):
                self.peer().build()
                self.peer().build()
                self.assertEqual(len(self.built), 2 * count - 1, name)
                script(self.folder, f"replaced-{count}", "exit 1\n")
                self.peer().build()
                self.assertEqual(len(self.built), 2 * count, name)

    def test_a_failed_build_is_not_kept(self):
        def fails(peer, folder):
            raise Refused("not today")
        self.refusal(self.peer(fails))
        self.peer().build()
        self.assertEqual(len(self.built), 1)

    def test_a_manifest_gives_exact_versions(self):
        for wrong in ('one = "1.2.3"', 'one = "=1.2"', 'one = "*"', 'one = { version = "1.2.3", features = ["a"] }', 'one = { path = "x" }'):
            self.write("Cargo.toml", f"[package]\nversion = \"1.0.0\"\n\n[dependencies]\n{wrong}\n\n[profile.release]\nlto = \"fat\"\n")
            self.assertIn("no exact version", self.refusal(self.peer()), wrong)
        self.write("Cargo.toml", '[dependencies]\none = "=1.2.3"\ntwo = { version = "=0.1.0", features = ["a"] }\n')
        self.peer().build()
        for wrong in ("v1.2", "latest", "v0.0.0-20200101000000-abcdef"):
            self.write("go.mod", f"module made\n\ngo 1.26\n\nrequire example.com/one/two {wrong}\n")
            self.assertIn("no exact version", self.refusal(self.peer()), wrong)
        self.write("go.mod", "module made\n\ngo 1.26\n\nrequire example.com/one/two v1.2.3\n")
        self.peer().build()

    def test_one_that_cannot_be_built_is_reported_as_skipped(self):
        missing = self.peer(needs={"no-such-compiler": "its-package"})
        with mock.patch.object(peers, "PEERS", {"made": missing, "other": self.peer()}):
            found = subjects.peers(lambda text: None)
        self.assertIn("no-such-compiler", found["made"].skipped)
        self.assertIn("no-such-compiler", found["made"].description()["skipped"])
        self.assertIsNone(found["other"].skipped)


class Real(unittest.TestCase):
    def test_every_manifest_is_exact(self):
        for peer in peers.PEERS.values():
            peers.check_manifest(peer.source)

    def test_no_lock_file_stands_beside_a_manifest(self):
        for folder, _, files in os.walk(peers.SOURCES):
            for name in files:
                self.assertNotIn(name, ("Cargo.lock", "go.sum", "package-lock.json"), folder)

    def test_every_peer_has_its_folder_its_settings_and_a_row_in_the_page(self):
        with open(os.path.join(peers.SOURCES, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for name, peer in peers.PEERS.items():
            self.assertTrue(os.path.isdir(peer.source), name)
            self.assertTrue(peer.settings, name)
            self.assertIn(f"| {name} |", page)
            self.assertLessEqual(set(peer.skipped_loads), set(loads.LOADS))


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1:]))
