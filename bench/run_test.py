#!/usr/bin/env python3
"""Tests of bench/run: each rule on data, and end to end against what was planted for it; the plan, the record, a run that is stopped.

Says 'passed NAME', 'failed NAME: why' or 'skipped NAME: why', one case a line. Run: bench/run_test.py [BIN] [CASE...]; BIN is the folder of
martlet and bench-floor. What is planted outweighs a neighbour or two, not processors that are all taken.
"""

import contextlib
import copy
import dataclasses
import importlib.machinery
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(BENCH)
sys.path.insert(0, BENCH)

from rig import artifact, cases, figures, loads, plan, process, provenance, quiet, rules, sampling, session, subjects, topology  # noqa: E402

BIN = os.path.join(ROOT, "build", "release", "bin")
RELEASE = {"program": "martlet", "type": "Release", "flags": "-O2", "sanitizers": ""}
CLEAN = {"commit": "c" * 40, "tree": "t" * 64, "dirty": [], "builds": [RELEASE]}
CORES = {"server": 0, "clients": [1], "shared_core": False}
TIMES = plan.Times(0.2, 0.8, 0.8, 0.2, 0.4, 0.4)
QUIET = {"others_busy": 0.0, "steal": 0.0}


def program():
    """bench/run as a module."""
    loader = importlib.machinery.SourceFileLoader("bench_run", os.path.join(BENCH, "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
    loader.exec_module(module)
    return module


def faulty(name, fault="none", kind="peer", **environment):
    words = ["env", f"BENCH_FAULT={fault}", *(f"{key}={value}" for key, value in environment.items()), sys.executable, subjects.FAULTY]
    return subjects.Subject(name, name, kind, "planted", lambda load: words, version="1")


def floor():
    return subjects.Subject("floor", "floor", "floor", "", lambda load: [os.path.join(BIN, "bench-floor")], version="1")


class Rules(unittest.TestCase):
    """Each rule on data, from both sides of its bound."""

    def both(self, rule, good, bad, said):
        self.assertIsNone(rule(*good))
        self.assertIn(said, rule(*bad))

    def test_saturated_generator(self):
        self.both(rules.saturated_generator, (0.85,), (0.86,), "the generator was the limit")

    def test_late_generator(self):
        run = {"rate": 990.0, "offered": 1000.0, "fell_behind": False, "late_p99_us": 900.0}
        self.both(rules.late_generator, ([run],), ([run, {**run, "rate": 989.0}],), "989 of 1000")
        self.both(rules.late_generator, ([run],), ([{**run, "fell_behind": True}],), "of 1000")
        self.both(rules.late_generator, ([run],), ([{**run, "late_p99_us": 1100.0}],), "was late")

    def test_unequal_busy_shares(self):
        self.both(rules.unequal_busy_shares, (0.80, 0.61), (0.80, 0.59), "20 points apart")

    def test_ladder_not_flat(self):
        self.both(rules.ladder_not_flat, ([(1, 10), (16, 91), (64, 100)],), ([(1, 10), (16, 89), (64, 100)],), "not flat")
        self.both(rules.ladder_not_flat, ([(1, 10), (16, 100), (64, 95)],), ([(1, 10), (16, 100), (64, 40)],), "not flat")
        self.assertIn("2 rungs", rules.ladder_not_flat([(1, 10), (16, 10)]))

    def test_wide_spread(self):
        self.both(rules.wide_spread, ("rate_max", [100, 105, 109]), ("rate_max", [100, 105, 115]), "apart")
        self.assertIsNone(rules.wide_spread("rate_max", [100]))
        self.assertIsNone(rules.wide_spread("instructions", [1, 100]))

    def test_straddling_interval(self):
        self.both(rules.straddles, ((1.02, 1.01, 1.03), True), ((1.005, 0.995, 1.015), True), "has 1 in it")
        self.both(rules.straddles, ((1.10, 1.05, 1.15), False), ((1.10, 1.05, 1.15), True), "stayed wide")

    def test_errors(self):
        self.both(rules.errors, ([{"faults": {}}, {}],), ([{"faults": {"reset": 2}}, {"faults": {"reset": 1}}],), "3 reset")
        self.assertIn("it failed: died", rules.errors([{}, {"fault": "died"}]))

    def test_unequal_answers(self):
        check = {"server": "a", "answer_bytes": 140}
        self.both(rules.unequal_answers, ([check, {**check, "answer_bytes": 172}],), ([check, {**check, "answer_bytes": 173}],), "32 bytes")
        self.assertIn("no Server", rules.unequal_answers([check, {"server": "b", "fault": "no Server"}]))

    def test_busy_machine(self):
        self.both(rules.busy_machine, (QUIET,), ({**QUIET, "others_busy": 0.11},), "others used 11%")
        self.both(rules.busy_machine, (QUIET,), ({**QUIET, "steal": 0.03},), "the host took")

    def test_too_few_quiet(self):
        self.both(rules.too_few_quiet, (3, 3, 1), (2, 3, 2), "2 quiet runs of 3")

    def test_debug_build(self):
        self.assertIsNone(rules.debug_build([RELEASE]))
        for change, said in (({"type": "Debug", "flags": "-O1 -g"}, "a Debug build"), ({"type": None}, "nothing says"), ({"flags": "-g"}, "without optimisation"),
                             ({"sanitizers": "address"}, "sanitizers"), ({"flags": "-O2 -fsanitize=thread"}, "sanitizers")):
            self.assertIn(said, rules.debug_build([RELEASE, {**RELEASE, **change}]))

    def test_dirty_tree(self):
        self.both(rules.dirty_tree, ({"dirty": []},), ({"dirty": ["a", "b", "c", "d"]},), "a, b, c and 1 more")

    def test_control_passed(self):
        held = {"metric": "cpu_ratio", "verdict": "withheld"}
        self.both(rules.control_passed, ([held],), ([held, {**held, "verdict": "ok"}],), "the control passed")
        self.assertIn("not measured", rules.control_passed([]))

    def test_every_rule_has_metrics_that_exist(self):
        for name, (_, metrics) in rules.RULES.items():
            self.assertTrue(metrics and set(metrics) <= set(artifact.METRICS), name)


class Machine(unittest.TestCase):
    def test_processors_never_share_a_core_where_there_are_others(self):
        def of_core(cpu):
            return {cpu % 4, cpu % 4 + 4}  # 0 and 4 are one core

        chosen = topology.choose(range(8), of_core)
        self.assertEqual((chosen["server"], chosen["clients"], chosen["shared_core"]), (0, [1, 2, 3], False))
        self.assertEqual(topology.choose([0, 4], of_core), {"server": 0, "clients": [4], "shared_core": True})
        self.assertEqual(topology.choose([4, 5], of_core)["clients"], [5])
        with self.assertRaises(process.Refused):
            topology.choose([0], of_core)

    def test_lists_of_processors(self):
        self.assertEqual(topology.parse_list("0-2,5\n"), {0, 1, 2, 5})

    def test_quiet_is_waited_for_and_then_refused(self):
        looks = iter([{"others_busy": 1.0}, {"others_busy": 0.0}])
        complain = (lambda facts: ["busy"] if facts["others_busy"] else [])
        self.assertEqual(quiet.wait(complain, 60, lambda text: None, lambda: next(looks)), {"others_busy": 0.0})
        with self.assertRaisesRegex(process.Refused, "busy"):
            quiet.wait(complain, 0, lambda text: None, lambda: {"others_busy": 1.0})

    def test_builds_say_how_they_were_made(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(provenance.build_facts(os.path.join(folder, "bin", "x"))["type"])
            with open(os.path.join(folder, "CMakeCache.txt"), "w", encoding="ascii") as file:
                file.write("CMAKE_BUILD_TYPE:STRING=Debug\nCMAKE_CXX_FLAGS:STRING=-Wall\nCMAKE_CXX_FLAGS_DEBUG:STRING=-O1 -g\n"
                           "MARTLET_SANITIZE:STRING=address\n")
            facts = provenance.build_facts(os.path.join(folder, "bin", "x"))
        self.assertEqual(facts, {"program": "x", "type": "Debug", "flags": "-Wall -O1 -g", "sanitizers": "address"})

    def test_a_tree_is_dirty_but_for_records(self):
        def git(*words):
            subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True, stdout=subprocess.DEVNULL)

        with tempfile.TemporaryDirectory() as folder:
            self.assertTrue(provenance.source_facts(folder)["dirty"])
            os.makedirs(os.path.join(folder, "bench", "artifacts"))
            for name in ("a", "bench/artifacts/one.json"):
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write("1")
            git("init", "-q")
            git("add", ".")
            git("commit", "-qm", "x")
            with open(os.path.join(folder, "bench", "artifacts", "two.json"), "w", encoding="ascii") as file:
                file.write("2")
            self.assertEqual(provenance.source_facts(folder)["dirty"], [])
            with open(os.path.join(folder, "b"), "w", encoding="ascii") as file:
                file.write("2")
            self.assertEqual(provenance.source_facts(folder)["dirty"], ["b"])

    def test_the_tree_is_what_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            def commit(name, text):
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
                git("add", ".")
                git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a")
                return provenance.source_facts(folder)

            def git(*words):
                subprocess.run(["git", "-C", folder, *words], check=True)

            git("init", "-q")
            first = commit("martlet/a", "1")
            for name in ("bench/artifacts/one.json", "docs/benchmarks.md"):
                later = commit(name, "1")
                self.assertNotEqual(later["commit"], first["commit"])
                self.assertEqual(later["tree"], first["tree"], name)
            for name in ("martlet/a", "bench/run", "docs.cpp"):
                before, after = provenance.source_facts(folder), commit(name, "2")
                self.assertNotEqual(after["tree"], before["tree"], name)


def record_of(rows, found, kind="part", source=None):
    groups = [[row] for row in rows]
    scale = dataclasses.replace(plan.QUICK, times=TIMES)
    return session.new_record(kind, scale, groups, found, copy.deepcopy(source or CLEAN), CORES, "martlet"), groups


class Made(unittest.TestCase):
    """Runs made up, without a server."""

    def setUp(self):
        self.found = {"floor": floor(), "slow": faulty("slow"), "control": subjects.control()}
        self.pair = plan.Row("pair", "slow", "d1", "floor", None, 10, 40, claim=True)

    def runs(self, *ratios):
        def check(name):
            return {"row": f"equal {name} d1", "kind": "equal", "server": name, "against": None, "load": "d1", "parameter": None, "answer_bytes": 140,
                    "disturbed": []}

        found = [check("slow"), check("floor")]
        for number, ratio in enumerate(ratios):
            sides = {"slow": {"ns": 1000 * ratio, "requests": 1, "server_busy": 0.8, "client_busy": 0.5},
                     "floor": {"ns": 1000, "requests": 1, "server_busy": 0.8, "client_busy": 0.5}}
            found.append({"row": self.pair.id, "kind": "pair", "server": "slow", "against": "floor", "load": "d1", "parameter": None, "round": number,
                          "sides": sides, "faults": {}, "disturbed": [], **QUIET})
        return found

    def ratio(self, runs, row=None, source=None):
        record, _ = record_of([row or self.pair], self.found, source=source)
        record["runs"] = runs
        figures.settle(record)
        self.assertEqual(artifact.faults(record), [])
        return artifact.Record(record).figure("cpu_ratio", "slow", "d1", "floor")

    def test_a_good_claim_stands(self):
        figure = self.ratio(self.runs(*[1.10, 1.11, 1.10, 1.12, 1.11] * 2))
        self.assertEqual((figure["verdict"], figure["pairs"], figure["reasons"]), ("ok", 10, []))
        self.assertTrue(figure["low"] <= figure["value"] == 1.105 or figure["value"] == 1.11)

    def test_figures_that_do_not_decide(self):
        self.assertEqual(self.ratio(self.runs(*[0.99, 1.01] * 5))["verdict"], "inconclusive")
        self.assertIn("9 quiet runs of 10", self.ratio(self.runs(*[1.1] * 9))["reasons"][0])

    def test_disturbed_runs_do_not_count(self):
        runs = self.runs(*[1.10] * 10, 5.0)
        runs[-1]["disturbed"] = ["others used 90%"]
        self.assertEqual(self.ratio(runs)["value"], 1.10)
        for run in runs[2:]:
            run["disturbed"] = ["others used 90%"]
        self.assertIn("the machine was busy", " ".join(self.ratio(runs)["reasons"]))

    def test_what_withholds(self):
        good = self.runs(*[1.1] * 10)
        wrong = copy.deepcopy(good)
        wrong[-1]["faults"] = {"wrong_hash": 1}
        self.assertIn("1 wrong hash", self.ratio(wrong)["reasons"][0])
        self.assertIn("not checked", self.ratio(good[2:])["reasons"][0])
        apart = copy.deepcopy(good)
        for run in apart[2:]:
            run["sides"]["slow"]["server_busy"] = 0.5
        self.assertIn("points apart", self.ratio(apart)["reasons"][0])
        self.assertIn("10%", self.ratio(self.runs(*[1.0, 1.3] * 5))["reasons"][0])
        for source, said in (({**CLEAN, "dirty": ["a"]}, "differs from its commit"), ({**CLEAN, "builds": [{**RELEASE, "type": "Debug"}]}, "Debug build")):
            figure = self.ratio(good, source=source)
            self.assertEqual((figure["verdict"], figure["value"], len(figure["samples"])), ("withheld", None, 10))
            self.assertIn(said, figure["reasons"][0])

    def test_latencies_of_a_late_generator(self):
        row = plan.Row("latency", "slow", "d1", None, 25)
        rung = plan.Row("rung", "slow", "d1", None, 64)
        measured = {"server": "slow", "against": None, "load": "d1", "faults": {}, "disturbed": [], "client_busy": 0.2, "client_waited": 0.1,
                    "server_busy": 0.5, "memory_peak": 1, "rate": 1000.0, **QUIET}
        for late, verdict in ((10.0, "ok"), (2000.0, "withheld")):
            record, _ = record_of([row, rung], self.found)
            record["runs"] = self.runs()[:1] + [
                {**measured, "row": rung.id, "kind": "rung", "parameter": 64},
                {**measured, "row": row.id, "kind": "latency", "parameter": 25, "offered": 1000.0, "fell_behind": False, "late_p99_us": late,
                 "p50_us": 50.0, "p99_us": 90.0, "p999_us": 200.0}]
            figures.settle(record)
            self.assertEqual(artifact.faults(record), [])
            self.assertEqual(artifact.Record(record).figure("latency_p99", "slow", "d1", parameter=25)["verdict"], verdict)

    def test_a_skipped_peer_says_why(self):
        self.found["slow"].skipped = "cargo is missing"
        figure = self.ratio([])
        self.assertEqual((figure["verdict"], figure["reasons"]), ("skipped", ["cargo is missing"]))
        self.found["slow"].skipped, self.found["slow"].skipped_loads = None, {"d1": "it does not pipeline"}
        self.assertEqual(self.ratio([])["reasons"], ["it does not pipeline"])

    def test_pairs_until_the_interval_is_narrow(self):
        def wants(*ratios):
            return plan.Standing(self.runs(*ratios)).wants(self.pair)

        self.assertTrue(wants(*[1.1] * 9))
        self.assertFalse(wants(*[1.1] * 10))
        self.assertTrue(wants(*[1.0, 1.2] * 5))
        self.assertFalse(wants(*[1.0, 1.2] * 20))

    def test_a_busy_share_apart_asks_for_a_fixed_rate(self):
        row = plan.Row("fixed", "slow", "d1", "floor", None, 5, 5)
        runs = self.runs(*[2.0] * 10)
        self.assertIsNone(plan.Standing(runs).fixed_rate(row))
        for run in runs[2:]:
            run["sides"]["floor"]["server_busy"] = 0.5
        self.assertEqual(plan.Standing(runs).fixed_rate(row), 200_000)  # half of 0.8 s in 2000 ns each, of 0.5 s in 1000 ns

    def test_rounds_are_reversed_and_a_stopped_run_goes_on(self):
        rows = [plan.Row("rung", name, "d1", None, 1, 2, 2) for name in ("floor", "slow")]

        def take(standing, most):
            for row, asked in plan.walk([rows], standing):
                if most == 0:
                    return
                most -= 1
                order.append((asked.server, asked.round))
                standing.add({"row": row.id, "kind": "rung", "server": row.server, "load": "d1", "rate": 1, "client_busy": 0, "client_waited": 0,
                              "faults": {}, "disturbed": []})

        order, standing = [], plan.Standing([])
        take(standing, 99)
        whole = list(order)
        self.assertEqual(whole, [("floor", 0), ("slow", 0), ("slow", 1), ("floor", 1)])
        order, standing = [], plan.Standing([])
        for _ in range(6):
            take(standing, 1)
        self.assertEqual(sorted(order), sorted(whole))

    def test_records_with_faults_are_refused(self):
        record, _ = record_of([self.pair], self.found)
        record["runs"], record["ended"] = self.runs(*[1.1] * 10), "now"
        figures.settle(record)
        self.assertEqual(artifact.faults(record), [])
        for change, said in ((lambda r: r["figures"][0].update(value=None), "with value None"), (lambda r: r["figures"][0].update(verdict="withheld"), "value"),
                             (lambda r: r["figures"][0].update(unit="us"), "unit"), (lambda r: r["figures"].append(r["figures"][0]), "twice"),
                             (lambda r: r["figures"][0].update(server="who"), "unknown server"), (lambda r: r.pop("machine"), "missing"),
                             (lambda r: r["figures"][0].update(low=9, high=10), "interval"), (lambda r: r.update(kind="full"), "control"),
                             (lambda r: r.update(void=["the control passed"]), "void")):
            changed = copy.deepcopy(record)
            change(changed)
            self.assertIn(said, " ".join(artifact.faults(changed)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            artifact.write(record, path)
            self.assertEqual(artifact.read(path).data, json.loads(json.dumps(record)))
            artifact.write({**record, "ended": None}, path)
            with self.assertRaisesRegex(artifact.Unusable, "has not ended"):
                artifact.read(path)


class Planted(unittest.TestCase):
    """End to end: fresh servers, `martlet load`, and one thing that is wrong."""

    def setUp(self):
        for name in ("martlet", "bench-floor"):
            if not os.access(os.path.join(BIN, name), os.X_OK):
                self.skipTest(f"{name} is not built in {BIN}")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two processors")
        self.cores = topology.here()
        self.loose = mock.patch.multiple(rules, OTHERS_BUSY_MAX=9.0, STEAL_MAX=1.0)
        self.loose.start()
        self.addCleanup(self.loose.stop)

    def figures(self, rows, found, source=None, kind="part"):
        """The record of a run of `rows` among `found`, whose answers are checked first."""
        checks = [plan.Row("equal", name, load) for name, load in dict.fromkeys((name, row.load) for row in rows for name in (row.server, row.against) if name)]
        record, groups = record_of(checks + rows, found, kind, source)
        bench = sampling.Bench(found, os.path.join(BIN, "martlet"), self.cores, TIMES)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(session, "PATIENCE_SECONDS", 0):
            path = os.path.join(folder, "run.json")
            session.Session(record, groups, bench, path, lambda text: None).run()
            return artifact.Record(artifact.load(path))

    def withheld(self, figure, said):
        self.assertEqual((figure["verdict"], figure["value"]), ("withheld", None), figure)
        self.assertIn(said, "; ".join(figure["reasons"]))

    def test_a_lying_server_and_one_that_sends_short_bodies(self):
        for lie, said in (("lies", "wrong hash"), ("short-bodies", "wrong length")):
            found = {"floor": floor(), "control": subjects.control(lie)}
            rows = [plan.Row("pair", "control", "d1", "floor"), plan.Row("rung", "control", "d1", None, 8)]
            record = self.figures(rows, found, kind="quick")
            for figure in record.data["figures"]:
                if figure["server"] == "control":
                    self.withheld(figure, said)
            self.assertEqual(artifact.faults(record.data), [])

    def test_a_control_that_passes_makes_the_run_void(self):
        # By a metric that a busy machine does not withhold.
        record = self.figures([plan.Row("idle", "control", "d1", None, 20)], {"control": subjects.control("none")}, kind="quick")
        self.assertIn("the control passed", record.data["void"][0])
        self.assertIn("void: the control passed", " ".join(artifact.faults(record.data)))

    def test_a_server_that_differs_before_timing(self):
        rows = [plan.Row("rung", "bad", "d1", None, 8)]
        self.withheld(self.figures(rows, {"bad": faulty("bad", "no-date")}).figure("ladder", "bad", "d1", parameter=8), "Date")

    def test_a_saturated_generator(self):
        # It hashes 64 KB for each answer; the floor sends them as they are.
        load = loads.LOADS["file-64k"]
        answer = (b"HTTP/1.1 200 OK\r\nServer: x\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 65536\r\n\r\n"
                  + load.content)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "answer")
            with open(path, "wb") as file:
                file.write(answer)
            words = [os.path.join(BIN, "bench-floor"), "--request-bytes", str(len(load.request(20000))), "--answer", path]
            found = {"fast": subjects.Subject("fast", "fast", "floor", "", lambda load: words, version="1")}
            record = self.figures([plan.Row("rung", "fast", load.id, None, 8)], found)
        self.withheld(record.figure("ladder", "fast", load.id, parameter=8), "the generator was the limit")
        self.withheld(record.figure("rate_max", "fast", load.id), "the generator was the limit")

    def test_unequal_busy_shares_are_compared_at_one_rate(self):
        found = {"quick": faulty("quick"), "sleepy": faulty("sleepy", "sleepy")}
        rows = [plan.Row("pair", "sleepy", "d1", "quick"), plan.Row("fixed", "sleepy", "d1", "quick")]
        with mock.patch.object(rules, "BUSY_APART_MAX", 0.03):  # of a starved machine
            record = self.figures(rows, found)
        self.withheld(record.figure("cpu_ratio", "sleepy", "d1", "quick"), "points apart")
        fixed = [figure for figure in record.data["figures"] if figure["metric"] == "cpu_ratio_fixed"]
        self.assertEqual(len(fixed), 1)
        self.assertTrue(fixed[0]["samples"] and fixed[0]["parameter"] >= 10)

    def test_a_ladder_that_is_not_flat(self):
        rows = [plan.Row("rung", "late", "d1", None, count) for count in (1, 4, 16)]
        record = self.figures(rows, {"late": faulty("late", "late")})
        self.withheld(record.figure("rate_max", "late", "d1"), "not flat")

    def test_a_wide_spread(self):
        with tempfile.TemporaryDirectory() as folder:
            found = {"moody": faulty("moody", "moody", BENCH_COUNTER=os.path.join(folder, "counter"))}
            record = self.figures([plan.Row("rung", "moody", "d1", None, 4, 3, 3)], found)
        self.withheld(record.figure("ladder", "moody", "d1", parameter=4), "apart")

    def test_a_busy_machine(self):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=process.die_with_parent) for _ in range(2)]
        try:
            self.loose.stop()
            record = self.figures([plan.Row("rung", "floor", "d1", None, 8)], {"floor": floor()})
            with self.assertRaisesRegex(process.Refused, "others used"):
                quiet.wait(lambda facts: [text for text in (rules.busy_machine(facts),) if text], 0, lambda text: None)
        finally:
            self.loose.start()
            for each in busy:
                each.kill()
                each.wait()
        self.withheld(record.figure("ladder", "floor", "d1", parameter=8), "the machine was busy")

    def test_a_server_that_dies(self):
        found = {"mortal": subjects.Subject("mortal", "mortal", "peer", "", lambda load: ["/bin/false"], version="1", start_seconds=2)}
        self.withheld(self.figures([plan.Row("rung", "mortal", "d1", None, 8)], found).figure("ladder", "mortal", "d1", parameter=8), "did not say")


class Command(unittest.TestCase):
    """bench/run itself."""

    def setUp(self):
        if not os.access(os.path.join(BIN, "martlet"), os.X_OK):
            self.skipTest(f"martlet is not built in {BIN}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.run = program()

    def call(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                code = self.run.main(list(words))
            except process.Refused as refusal:
                return 2, out.getvalue() + str(refusal)
        return code, out.getvalue()

    def clean(self, **more):
        return mock.patch.object(provenance, "source_facts", lambda root: {"commit": "c" * 40, "tree": "t" * 64, "dirty": [], **more})

    def debug_bin(self):
        os.symlink(BIN, os.path.join(self.folder, "bin"))
        with open(os.path.join(self.folder, "CMakeCache.txt"), "w", encoding="ascii") as file:
            file.write("CMAKE_BUILD_TYPE:STRING=Debug\nCMAKE_CXX_FLAGS_DEBUG:STRING=-O1 -g\n")
        return os.path.join(self.folder, "bin")

    def test_a_debug_build_is_refused(self):
        folder = self.debug_bin()
        with self.clean():
            code, said = self.call("--quick", "--no-peers", "--bin", folder)
            self.assertEqual(code, 2)
            self.assertIn("is a Debug build", said)
            path = os.path.join(self.folder, "run.json")
            code, said = self.call("--quick", "--no-peers", "--bin", folder, "--only", "floor/d1/system_calls", "--anyway", "--output", path)
        self.assertEqual(code, 0, said)
        kept = artifact.read(path).data["figures"]
        self.assertTrue(kept)
        for figure in kept:
            self.assertEqual(figure["verdict"], "withheld", figure)

    def test_a_dirty_tree_is_refused(self):
        with self.clean(dirty=["martlet/base/error.hpp"]):
            code, said = self.call("--quick", "--no-peers", "--bin", BIN)
        self.assertEqual(code, 2)
        self.assertIn("martlet/base/error.hpp", said)

    def test_a_busy_machine_is_refused(self):
        with self.clean(), mock.patch.object(quiet, "look", lambda: {"others_busy": 1.0, "steal": 0.0}), \
                mock.patch.object(quiet.wait, "__defaults__", (lambda: {"others_busy": 1.0, "steal": 0.0},)):
            code, said = self.call("--quick", "--no-peers", "--bin", BIN, "--patience", "0")
        self.assertEqual(code, 2)
        self.assertIn("others used 100%", said)

    def test_a_stopped_run_goes_on(self):
        path = os.path.join(self.folder, "run.json")
        made = []

        def measure(under_way, row, asked):
            if len(made) == stop_after:
                raise KeyboardInterrupt
            made.append((row.id, asked.round))
            return {"row": row.id, "kind": row.kind, "server": row.server, "against": row.against, "load": row.load, "parameter": asked.parameter,
                    "round": asked.round, "answer_bytes": 140, "value": 2, "calls": {}, "faults": {"wrong_hash": 1} if row.server == "control" else {},
                    "disturbed": []}

        words = ["--quick", "--no-peers", "--bin", BIN, "--only", "floor,hello//system_calls", "--anyway", "--output", path]
        with self.clean(), mock.patch.object(session.Session, "measure", measure):
            stop_after = 3
            code, said = self.call(*words)
            self.assertEqual(code, 1)
            self.assertIn("--resume", said)
            with self.assertRaises(artifact.Unusable):
                artifact.read(path)
            stop_after = None
        # The record itself may have been checked in meanwhile.
        with self.clean(commit="e" * 40), mock.patch.object(session.Session, "measure", measure):
            code, said = self.call("--resume", path, "--no-peers", "--bin", BIN, "--anyway")
            self.assertEqual(code, 0, said)
            self.assertIn("part run:", said)
        self.assertEqual(len(made), len(set(made)))
        self.assertEqual([each["commit"][0] for each in artifact.load(path)["source"]["stretches"]], ["c", "e"])
        record = artifact.read(path)
        self.assertEqual(record.figure("system_calls", "hello", "d1")["value"], 2)
        with self.clean(tree="d" * 64):
            artifact.write({**record.data, "ended": None}, path)
            code, said = self.call("--resume", path, "--no-peers", "--bin", BIN, "--anyway")
        self.assertEqual(code, 2)
        self.assertIn("its tree was", said)

    def test_a_run_does_not_go_on_with_another_version_of_a_peer(self):
        peer = faulty("peer")
        record, _ = record_of([plan.Row("system_calls", "peer", "d1")], {"peer": peer})
        peer.version = "2"
        fresh, _ = record_of([plan.Row("system_calls", "peer", "d1")], {"peer": peer})
        self.assertEqual(session.resumable(record, record["source"], CORES, record), [])
        self.assertEqual(session.resumable(record, fresh["source"], CORES, fresh), ["peer was 1"])

    def test_plan_and_list(self):
        with self.clean():
            code, said = self.call("--plan", "--no-peers", "--bin", BIN)
        self.assertEqual(code, 0)
        self.assertIn("pair hello against floor d1, 10 to 40 times", said)
        self.assertEqual(self.call("--list")[0], 0)
        self.assertEqual(self.call("--only", "a/b/c/d")[0], 2)
        self.assertIn("no load", self.call("--only", "/nothing")[1])

    def test_ctrl_c_leaves_no_server(self):
        path = os.path.join(self.folder, "run.json")
        words = [os.path.join(BENCH, "run"), "--quick", "--no-peers", "--bin", BIN, "--anyway", "--output", path]
        command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=process.die_with_parent)
        for line in command.stdout:
            if "equal" in line:
                break
        command.send_signal(signal.SIGINT)
        said = command.stdout.read()
        self.assertEqual(command.wait(30), 1, said)
        command.stdout.close()
        left = subprocess.run(["pgrep", "-g", str(command.pid)], stdout=subprocess.PIPE, text=True, check=False).stdout
        self.assertEqual(left, "")
        self.assertGreater(len(artifact.load(path)["runs"]), 0)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words and os.path.isdir(words[0]):
        BIN = os.path.abspath(words.pop(0))
    sys.exit(cases.run(words))
