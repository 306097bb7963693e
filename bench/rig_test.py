#!/usr/bin/env python3
"""Tests of the rig: its parsers and verdicts, and each bar against servers with a planted fault.

Says one case a line. Run: bench/rig_test.py [CASE...]. The bars on connections need bench-churn; BENCH_BIN names its folder (default: build/release/bin).
"""

import os
import shutil
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from rig import cases, connections, cpu, kernel, process, source, traffic, verdicts  # noqa: E402

FAULTY = os.path.join(BENCH, "rig", "faulty_server.py")
CHURN = os.path.join(os.environ.get("BENCH_BIN", os.path.join(os.path.dirname(BENCH), "build", "release", "bin")), "bench-churn")
TRACE = """\
812   epoll_wait(4, [{events=EPOLLIN, data=0x7}], 256, -1) = 1
812   recvfrom(7, "GET / HTTP/1.1\\r\\n"..., 65536, 0, NULL, NULL) = 49
812   sendto(7, "HTTP/1.1 200 OK"..., 147, MSG_NOSIGNAL, NULL, 0) = 147
813   futex(0x7f, FUTEX_WAIT, 2, NULL <unfinished ...>
812   recvfrom(7,  <unfinished ...>
812   <... recvfrom resumed>0x55, 65536, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
812   --- SIGCHLD {si_signo=SIGCHLD} ---
812   epoll_wait(4,  <detached ...>
"""


def context(**more):
    return types.SimpleNamespace(root="/nowhere", hello=FAULTY, churn=CHURN, progress=lambda text: None, **more)


class Parsing(unittest.TestCase):
    def test_trace_counts_each_call_once(self):
        calls, empty_reads = kernel.parse_trace(TRACE.splitlines())
        self.assertEqual(dict(calls), {"epoll_wait": 1, "recvfrom": 2, "sendto": 1, "futex": 1})
        self.assertEqual(empty_reads, 1)

    def test_trace_is_judged(self):
        def judge(empty_reads=0, **calls):
            return kernel.judge_trace(kernel.collections.Counter(calls), empty_reads, 100)

        self.assertEqual(judge(recvfrom=100, sendto=100, epoll_wait=140, futex=1), [])
        for fault in ({"recvfrom": 101, "sendto": 100}, {"recvfrom": 100, "sendto": 99}, {"recvfrom": 100, "sendto": 100, "epoll_ctl": 1},
                      {"recvfrom": 100, "sendto": 100, "timerfd_settime": 1}, {"recvfrom": 100, "sendto": 100, "madvise": 2}):
            self.assertTrue(judge(**fault), fault)
        self.assertTrue(judge(empty_reads=1, recvfrom=100, sendto=100))

    def test_wrk_report(self):
        text = "  2 threads\n  Latency 1ms\n  39245 requests in 1.50m, 5.50MB read\nRequests/sec: 1\n"
        self.assertEqual(traffic.parse_wrk(text), {"requests": 39245, "seconds": 90.0, "errors": ""})
        bad = traffic.parse_wrk(text + "  Socket errors: connect 0, read 3, write 0, timeout 0\n  Non-2xx or 3xx responses: 7\n")
        self.assertIn("read 3", bad["errors"])
        self.assertIn("responses: 7", bad["errors"])
        with self.assertRaises(process.Broken):
            traffic.parse_wrk("unable to connect")


class Verdicts(unittest.TestCase):
    def test_interval_covers_the_median(self):
        median, low, high = verdicts.median_interval([1.0, 1.01, 1.02, 1.03, 1.04] * 4)
        self.assertEqual(median, 1.02)
        self.assertTrue(1.0 <= low <= 1.02 <= high <= 1.04)

    def test_rules(self):
        for interval, expected in (((1.05, 1.04, 1.06), verdicts.PASS), ((1.059, 1.05, 1.07), verdicts.PASS),
                                   ((1.08, 1.07, 1.09), verdicts.FAIL), ((1.065, 1.055, 1.075), verdicts.INCONCLUSIVE),
                                   ((1.05, 1.00, 1.10), verdicts.INCONCLUSIVE), ((1.01, 0.96, 1.05), verdicts.PASS)):
            self.assertEqual(verdicts.judge_ratio(interval, 1.06, 0.015), expected, interval)


class Faulty(unittest.TestCase):
    """Each bar on a server of which one thing is wrong."""

    def faults(self, bar, fault):
        with mock.patch.dict(os.environ, {"BENCH_FAULT": fault}):
            return bar(context())

    def test_system_calls(self):
        with mock.patch.object(kernel, "REQUESTS", 300):
            self.assertEqual(self.faults(kernel.steady_state, "none").status, verdicts.PASS)
            self.assertEqual(self.faults(kernel.busy, "none").status, verdicts.PASS)
            self.assertIn("munmap", " ".join(self.faults(kernel.busy, "pages").notes))
            for fault, said in (("empty-read", "found nothing"), ("two-writes", "600 writes"), ("rearm", "epoll_ctl"), ("timer", "setitimer")):
                result = self.faults(kernel.steady_state, fault)
                self.assertEqual(result.status, verdicts.FAIL, fault)
                self.assertIn(said, " ".join(result.notes))

    def test_answers_are_checked(self):
        with self.assertRaisesRegex(process.Broken, "Date"):
            self.faults(kernel.steady_state, "no-date")
        with mock.patch.dict(os.environ, {"BENCH_FAULT": "no-date"}), process.Server(FAULTY) as server:
            with self.assertRaisesRegex(process.Broken, "Date"):
                traffic.check_equal([server], "bare")

    def test_idle_memory(self):
        # An interpreter takes more at rest, and a socket object more than the bar allows a connection.
        with mock.patch.multiple(connections, IDLE_MORE=1000, IDLE_FIRST=100, REST_BYTES_MAX=1 << 30, IDLE_BYTES_MAX=2000):
            self.assertEqual(self.faults(connections.idle, "none").status, verdicts.PASS)
            self.assertIn("an idle connection takes", self.faults(connections.idle, "hoard").notes[0])
            self.assertIn("than at rest", " ".join(self.faults(connections.idle, "leak-memory").notes))
            self.assertIn("descriptors left", " ".join(self.faults(connections.idle, "leak-descriptor").notes))
        with mock.patch.multiple(connections, IDLE_MORE=10, IDLE_FIRST=10):
            self.assertIn("at rest", " ".join(self.faults(connections.idle, "none").notes))

    @unittest.skipUnless(os.access(CHURN, os.X_OK), "bench-churn is not built (BENCH_BIN)")
    def test_churn(self):
        with mock.patch.multiple(connections, CHURN_FIRST=500, CHURN_ALL=2000):
            self.assertEqual(self.faults(connections.churn, "none").status, verdicts.PASS)
            self.assertIn("memory grew", " ".join(self.faults(connections.churn, "leak-memory").notes))
            with self.assertRaises(process.Broken):
                self.faults(connections.churn, "die-on-reset")
        with mock.patch.multiple(connections, CHURN_FIRST=100, CHURN_ALL=400):
            self.assertIn("descriptors left", " ".join(self.faults(connections.churn, "leak-descriptor").notes))

    @unittest.skipUnless(shutil.which("wrk") and len(os.sched_getaffinity(0)) > 1, "needs wrk and two processors")
    def test_cpu_ratio(self):
        with tempfile.TemporaryDirectory() as folder:
            slow = os.path.join(folder, "slow")  # sends every answer in two writes
            with open(slow, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\nBENCH_FAULT=two-writes exec {FAULTY} \"$@\"\n")
            os.chmod(slow, 0o755)
            asked = types.SimpleNamespace(floor=FAULTY, hello=slow, cores=lambda: (0, 1), pairs_min=3, pairs_max=3, progress=lambda text: None)
            with mock.patch.multiple(cpu, PAIR_SECONDS=2):
                result = cpu.ratio_bar(asked, "cpu", "bare", 1, 8, 1.02)
        self.assertEqual(result.status, verdicts.FAIL, result)

    def test_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            heavy = os.path.join(folder, "heavy.cpp")
            with open(heavy, "w", encoding="ascii") as file:
                file.write("#include <regex>\n#include <iostream>\nint main() { return std::regex_match(\"a\", std::regex(\"a|b\")) ? 0 : 1; }\n")
            asked = context(hello_source=heavy)
            with mock.patch.object(source, "ROUNDS", 1):
                self.assertEqual(source.compile_hello(asked).status, verdicts.FAIL)
                with mock.patch.multiple(source, TIMES_MAX=100.0, LINES_MAX=1000):
                    self.assertEqual(source.compile_hello(asked).status, verdicts.FAIL)
                with mock.patch.multiple(source, TIMES_MAX=100.0, LINES_MAX=10_000_000):
                    self.assertEqual(source.compile_hello(asked).status, verdicts.PASS)

    def test_allocations(self):
        output = "[==========] 2 tests from 1 test suite ran. (1 ms total)"
        for code, text, expected in ((0, output, verdicts.PASS), (1, output, verdicts.FAIL)):
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, "counting-test")
                with open(program, "w", encoding="ascii") as file:
                    file.write(f"#!/bin/sh\necho '{text}'\nexit {code}\n")
                os.chmod(program, 0o755)
                self.assertEqual(source.allocations(context(allocation_test=program)).status, expected)
        with self.assertRaises(process.Refused):
            source.allocations(context(allocation_test="/bin/true"))


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1:]))
