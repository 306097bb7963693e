#!/usr/bin/env python3
"""Shows that bench/gate can fail: planted servers that do more for each request, and figures off the recorded ones.

Says 'passed NAME', 'failed NAME: why' or 'skipped NAME: why', one case a line. Run: bench/gate_test.py [BIN], the folder of bench-hello.
"""

import os
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from rig import cases, gate, loads, process, traffic  # noqa: E402

BIN = os.path.join(os.path.dirname(BENCH), "build", "profile", "bin")
FAULTY = os.path.join(BENCH, "rig", "faulty_server.py")


def skip_when_refused(function):
    def run(self):
        try:
            function(self)
        except process.Refused as reason:
            self.skipTest(str(reason))
    return run


class Gate(unittest.TestCase):
    def judged(self, measured, same_tools=True, **expected):
        word, text = gate.judge(gate.Expected(**{"figure": 500, "tolerance": 0.02, **expected}), measured, same_tools)
        return word, text

    def test_a_figure_is_held_from_both_sides(self):
        for measured in (490.1, 500, 509.9):
            self.assertEqual(self.judged(measured)[0], gate.PASSED, measured)
        self.assertIn("over the recorded", self.judged(510.1)[1])
        self.assertIn("keep it with bench/gate --record", self.judged(489.9)[1])
        for measured in (510.1, 489.9):
            self.assertEqual(self.judged(measured)[0], gate.FAILED, measured)

    def test_the_bar_stands_whatever_was_recorded(self):
        self.assertEqual(self.judged(530, figure=525, bar=530)[0], gate.PASSED)
        self.assertIn("the bar", self.judged(530.5, figure=525, bar=530)[1])
        self.assertEqual(self.judged(530.5, figure=525, bar=530)[0], gate.FAILED)

    def test_other_tools_leave_only_the_bar(self):
        self.assertEqual(self.judged(900, same_tools=False)[0], gate.SKIPPED)
        self.assertEqual(self.judged(400, same_tools=False, bar=530)[0], gate.PASSED)
        self.assertEqual(self.judged(531, same_tools=False, bar=530)[0], gate.FAILED)

    def test_every_figure_is_recorded(self):
        _, expected = gate.read(os.path.join(BENCH, "gate.json"))
        self.assertEqual(sorted(expected), sorted(name for name, _, _ in gate.cases()))
        for name, bar in gate.BARS.items():
            self.assertEqual(expected[name].bar, bar, name)

    def test_what_was_written_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gate.json")
            kept = {"instructions-d1": gate.Expected(10, 0.02), "system-calls-d1": gate.Expected(2.0, 0.01, 3)}
            gate.write(path, kept)
            self.assertEqual(gate.read(path), (gate.tools(), kept))

    def test_a_processor_that_lacks_something_is_told(self):
        with mock.patch.object(gate.machine, "read", return_value="flags\t\t: fpu avx2 bmi1"):
            with self.assertRaisesRegex(process.Refused, "no bmi2, fma, movbe"):
                gate.need_processor()

    @skip_when_refused
    def test_a_server_that_does_more_fails_on_instructions(self):
        _, expected = gate.read(os.path.join(BENCH, "gate.json"))
        # The load of hello, asked of a handler that makes JSON.
        measured = gate.count_instructions(os.path.join(BIN, "bench-rows"), loads.LOADS["json"])
        self.assertEqual(gate.judge(expected["instructions-d1"], measured, True)[0], gate.FAILED)

    @skip_when_refused
    def test_a_server_with_another_system_call_fails(self):
        _, expected = gate.read(os.path.join(BENCH, "gate.json"))
        with mock.patch.object(gate, "REQUESTS", 300):
            for fault, wanted in (("none", gate.PASSED), ("two-writes", gate.FAILED), ("empty-read", gate.FAILED), ("rearm", gate.FAILED),
                                  ("timer", gate.FAILED), ("pages", gate.FAILED)):
                with mock.patch.dict(os.environ, {"BENCH_FAULT": fault}):
                    measured = gate.count_system_calls(FAULTY, loads.LOADS["d1"])
                self.assertEqual(gate.judge(expected["system-calls-d1"], measured, True)[0], wanted, fault)

    @skip_when_refused
    def test_a_wrong_answer_fails(self):
        with mock.patch.dict(os.environ, {"BENCH_FAULT": "no-date"}), self.assertRaisesRegex(process.Broken, "Date"):
            gate.count_system_calls(FAULTY, loads.LOADS["d1"])


class Loads(unittest.TestCase):
    def test_chunks_are_read_as_one_answer(self):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        whole = head + b"3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n"
        self.assertEqual(traffic.split_answer(whole + b"HTTP")[1:], (b"abc0123456789", len(whole)))
        for length in range(len(whole)):
            self.assertIsNone(traffic.split_answer(whole[:length]), length)
        for broken in (b"x\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n"):
            with self.assertRaises(process.Broken):
                traffic.split_answer(head + broken)

    def test_an_answer_of_another_framing_is_wrong(self):
        date = traffic.email.utils.formatdate(usegmt=True)
        head = f"HTTP/1.1 200 OK\r\nServer: x\r\nDate: {date}\r\nContent-Type: text/plain\r\n"
        loads.LOADS["d1"].check("server", head + "Content-Length: 13", traffic.BODY)
        with self.assertRaisesRegex(process.Broken, "Content-Length None"):
            loads.LOADS["d1"].check("server", head + "Transfer-Encoding: chunked", traffic.BODY)
        with self.assertRaisesRegex(process.Broken, "body"):
            loads.LOADS["file"].check("server", head + "Content-Length: 13", traffic.BODY)

    def test_requests_are_those_that_were_always_sent(self):
        self.assertEqual(loads.LOADS["d1"].request(20000), traffic.bare_request(20000))
        self.assertEqual(loads.LOADS["d16-browser"].request(20000), traffic.browser_request(20000))

    @unittest.skipUnless(os.access(os.path.join(BIN, "bench-floor"), os.X_OK), "bench-floor is not built")
    def test_the_floor_sends_what_the_library_sends(self):
        with tempfile.TemporaryDirectory() as folder:
            for load in loads.LOADS.values():
                if not load.application:
                    continue
                command = loads.floor_command(load, os.path.join(BIN, "bench-floor"), os.path.join(BIN, "bench-rows"), folder)
                with open(command[-1], "rb") as file:
                    expected = file.read()
                wrapper = os.path.join(folder, "floor-of-" + load.id)
                with open(wrapper, "w", encoding="ascii") as file:
                    file.write(f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n")
                os.chmod(wrapper, 0o755)
                with process.Server(wrapper) as server:
                    loads.check_server(load, server)
                    with traffic.Client(server.port) as client:
                        client.socket.sendall(load.request(server.port))
                        self.assertEqual(len(client.raw_answer()), len(expected))
                    server.stop_cleanly()


def main():
    global BIN
    if len(sys.argv) > 1:
        BIN = os.path.abspath(sys.argv[1])
    return cases.run()


if __name__ == "__main__":
    sys.exit(main())
