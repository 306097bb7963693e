#!/usr/bin/env python3
"""Tests of bench/render: each planted edit of page, template or record must be found, and named with its file and line.

Says 'passed NAME' or 'failed NAME: why', one case a line. Run: bench/report_test.py [CLASS.test_name...]. All figures in it are made up.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from report import check, losses, made_up, plots, sections, template, values  # noqa: E402
from rig import artifact, cases, plan  # noqa: E402

MARKDOWN, HTML = check.PAGES
RECORD = os.path.join(check.ARTIFACTS, "2001-01-01-full.json")


def render(root, *words):
    return subprocess.run(
        [os.path.join(BENCH, "render"), "--root", root, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


class Tree(unittest.TestCase):
    """A tree with template, one made-up record, and the pages that were made from it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in ("docs", check.ARTIFACTS, os.path.dirname(check.TEMPLATE)):
            os.makedirs(os.path.join(self.root, name))
        shutil.copy(os.path.join(os.path.dirname(BENCH), check.TEMPLATE), os.path.join(self.root, check.TEMPLATE))
        artifact.write(made_up.record(), os.path.join(self.root, RECORD))
        self.assertEqual(render(self.root).returncode, 0)

    def text(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def put(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def edit(self, name, pattern, text, count=1):
        """Replaces the first match; returns the line that it was on."""
        before = self.text(name)
        match = re.search(pattern, before, re.M)
        self.assertIsNotNone(match, f"{pattern} is not in {name}")
        self.put(name, before[: match.start()] + match.expand(text) + before[match.end() :])
        return before.count("\n", 0, match.start()) + 1

    def finds(self, *expected):
        finished = render(self.root, "--check")
        self.assertEqual(finished.returncode, 1, finished.stdout)
        for words in expected:
            self.assertIn(words, finished.stdout)
        return finished.stdout

    def accepts(self):
        finished = render(self.root, "--check")
        self.assertEqual(finished.returncode, 0, finished.stdout)


class Pages(Tree):
    """Edits of the pages."""

    def test_accepts_what_it_made(self):
        self.accepts()

    def test_number_in_a_table(self):
        line = self.edit(MARKDOWN, r"^(\| nginx \| 5\.88 us \| )1\.200", r"\g<1>1.300")
        self.finds(f"{MARKDOWN}:{line}: says", "1.300", "must be", "1.200")

    def test_number_in_the_prose(self):
        line = self.edit(MARKDOWN, r"takes 1\.030", "takes 1.010")
        self.finds(f"{MARKDOWN}:{line}: says", "takes 1.010", "takes 1.030")

    def test_removed_losing_row(self):
        line = self.edit(MARKDOWN, r"^\| highest rate \| 16 requests a write \|.*\n", "")
        self.finds(f"{MARKDOWN}:{line}: missing: | highest rate | 16 requests a write")

    def test_removed_withheld_row(self):
        self.edit(MARKDOWN, r"^\| Node \| withheld: the generator.*\n", "")
        self.finds("missing: | Node | withheld: the generator was the limit")

    def test_added_sentence(self):
        line = self.edit(MARKDOWN, r"^## Latency\n", "## Latency\n\nIt is the best.\n")
        self.finds(f"{MARKDOWN}:{line + 2}: does not belong here: It is the best.")

    def test_figure_in_a_plot(self):
        line = self.edit(HTML, r'(<rect class="bar headline" x="0" y="\d+" width=")[\d.]+', r"\g<1>1.0")
        self.finds(f"{HTML}:{line}: says")

    def test_number_in_the_html(self):
        line = self.edit(HTML, r"takes 1\.030", "takes 1.010")
        self.finds(f"{HTML}:{line}: says", "takes 1.010")

    def test_missing_page(self):
        os.remove(os.path.join(self.root, HTML))
        self.finds(f"{HTML}:1: is missing")


class Records(Tree):
    """Records that are newer, changed, broken, or not there."""

    def test_stale_pages(self):
        artifact.write(made_up.record(began="2001-02-01T10:00:00+00:00"), os.path.join(self.root, check.ARTIFACTS, "2001-02-01-full.json"))
        self.finds(f"{MARKDOWN}:1: is not made from bench/artifacts/2001-02-01-full.json", f"{HTML}:2: is not made from")
        render(self.root)
        self.accepts()

    def test_full_run_counts_before_a_newer_quick_one(self):
        artifact.write(
            made_up.record("quick", "2001-02-01T10:00:00+00:00"), os.path.join(self.root, check.ARTIFACTS, "2001-02-01-quick.json")
        )
        self.accepts()

    def test_quick_run_where_there_is_no_full_one(self):
        os.remove(os.path.join(self.root, RECORD))
        artifact.write(made_up.record("quick"), os.path.join(self.root, check.ARTIFACTS, "q.json"))
        said = render(self.root).stdout
        self.assertIn("a quick run of 2001", said)
        self.assertIn("there is no full run", said)
        self.assertIn("a quick run, which says little", self.text(MARKDOWN))
        self.accepts()

    def test_changed_record(self):
        record = made_up.record()
        figure = next(f for f in record["figures"] if (f["metric"], f["server"], f["load"]) == ("cpu_ratio", "hello", "d1"))
        figure.update(
            figure,
            samples=[s + 0.2 for s in figure["samples"]],
            value=figure["value"] + 0.2,
            low=figure["low"] + 0.2,
            high=figure["high"] + 0.2,
        )
        artifact.write(record, os.path.join(self.root, RECORD))
        self.finds(f"{MARKDOWN}:", "takes 1.030", "takes 1.230")

    def test_figure_that_its_samples_contradict(self):
        line = self.edit(RECORD, r'("server": "nginx", .*"value": )1\.2\b', r"\g<1>1.201")
        self.finds(f"{RECORD}:{line}: cpu_ratio nginx against floor d1 is 1.201, its samples say 1.2")

    def planned(self, samples=(1.2, 1.2)):
        """A record with a plan of one pair, and its raw runs."""
        record = made_up.record()
        row = plan.Row("pair", "nginx", "d1", "floor")
        figure = next(f for f in record["figures"] if artifact.figure_name(f) == "cpu_ratio nginx against floor d1")
        figure.update(made_up.figure("cpu_ratio", "nginx", "d1", list(samples), "floor"))
        record["settings"]["plan"] = [row.described()]
        record["runs"] = [{"row": row.id, "disturbed": False, "sides": {"nginx": {"ns": 6000.0}, "floor": {"ns": 5000.0}}}] * 2
        return record, figure

    def test_samples_that_the_raw_runs_contradict(self):
        for samples, status in (((1.2, 1.2), 0), ((1.1, 1.1), 1)):
            artifact.write(self.planned(samples)[0], os.path.join(self.root, RECORD))
            render(self.root)
            finished = render(self.root, "--check")
            self.assertEqual(finished.returncode, status, finished.stdout)
        self.assertIn(f"{RECORD}: cpu_ratio nginx against floor d1 has other samples than the raw runs", finished.stdout)

    def test_losing_figure_taken_out_of_the_record(self):
        record, figure = self.planned()
        record["figures"].remove(figure)
        artifact.write(record, os.path.join(self.root, RECORD))
        render(self.root)
        self.finds(f"{RECORD}: pair nginx against floor d1 was planned and has no figure cpu_ratio")

    def test_record_without_the_reason_of_what_it_withholds(self):
        self.edit(RECORD, r'"reasons": \["the generator[^"]*"\]', '"reasons": []')
        self.finds(f"{RECORD}: ", "withheld without a reason")

    def test_void_record(self):
        self.edit(RECORD, r'^ "void": \[\]', ' "void": ["the control passed"]')
        self.finds(f"{RECORD}: void: the control passed")

    def test_no_record(self):
        os.remove(os.path.join(self.root, RECORD))
        self.finds("is not made from no record")
        self.assertEqual(render(self.root).returncode, 0)
        self.accepts()
        self.assertIn("No run is recorded yet", self.text(MARKDOWN))
        self.assertNotIn("| Martlet |", self.text(MARKDOWN))


class Templates(Tree):
    """Prose whose numbers are bound to nothing, and placeholders of what there is not."""

    def planted(self, text, *expected):
        line = self.edit(check.TEMPLATE, r"^## Latency\n", f"## Latency\n\n{text}\n") + 2
        self.assertEqual(render(self.root).returncode, 1)
        self.finds(*(f"{check.TEMPLATE}:{line}: {words}" for words in expected))

    def test_number_typed_by_hand(self):
        self.planted("Martlet takes 1.03 times the floor.", "the number '1.03' is typed by hand")

    def test_percentage_typed_by_hand(self):
        self.planted("It is (3%) dearer.", "the number '3%' is typed by hand")

    def test_number_behind_a_sign_and_in_code(self):
        self.planted("It takes ~2x, or `1.03`.", "the number '~2x' is typed", "the number '1.03' is typed")

    def test_number_where_the_paragraph_does_not_stand(self):
        self.planted("{{with cpu_ratio hello render d1}} It takes 1.03.", "the number '1.03' is typed by hand")

    def test_unknown_metric(self):
        self.planted("It takes {{speed hello d1}}.", "there is no metric 'speed'")

    def test_unknown_server(self):
        self.planted("It takes {{cpu_ratio halo floor d1}}.", "'halo' in")

    def test_figure_that_the_run_has_not(self):
        self.planted("It takes {{cpu_ratio hello nginx d1}}.", "there is no figure 'cpu_ratio hello nginx d1' in 2001-01-01-full.json")

    def test_figure_that_is_several(self):
        self.planted("It takes {{ladder hello d1}}.", "'ladder hello d1' is 6 figures")

    def test_unknown_section_rule_and_fact(self):
        self.planted("{{section speed}}", "there is no section 'speed'")
        self.planted("{{rule of_thumb}}", "there is no rule 'of_thumb'")
        self.planted("{{machine soul}}", "the machine's 'soul' is not in")

    def test_unknown_name_behind_a_guard(self):
        self.planted("{{with cpu_ratio hello hipper d1}}\nIt takes less.", "'hipper' in")

    def test_unknown_name_where_the_paragraph_does_not_stand(self):
        self.planted("{{without run}} It takes {{speed hello d1}}.", "there is no metric 'speed'")

    def test_guard_of_two_figures(self):
        text = "{{with cpu_ratio hello floor d1 and cpu_ratio hello %s d1}}\nBoth are there.\n\n## Latency\n"
        self.edit(check.TEMPLATE, r"^## Latency\n", text % "render")
        self.assertEqual(render(self.root).returncode, 0)
        self.assertNotIn("Both are there", self.text(MARKDOWN))
        self.edit(check.TEMPLATE, r"hello render d1", "hello hyper d1")
        self.assertEqual(render(self.root).returncode, 0)
        self.assertIn("Both are there", self.text(MARKDOWN))

    def test_accepts_constants_names_and_links(self):
        self.edit(
            check.TEMPLATE,
            r"^## Latency\n",
            "## Latency\n\nWith {{say 16}} of HTTP/1.1, p99, d16, `-c 64` and [a page](../docs/02-x.md).\n",
        )
        self.assertEqual(render(self.root).returncode, 0)
        self.assertIn("With 16 of HTTP/1.1, p99, d16, `-c 64` and", self.text(MARKDOWN))
        self.accepts()

    def test_forms_of_a_figure(self):
        self.edit(
            check.TEMPLATE,
            r"^## Latency\n",
            "## Latency\n\n{{cpu_ratio hello floor d1 value}}/{{cpu_ratio hello floor d1 low}}/"
            "{{cpu_ratio hello floor d1 excess}}/{{latency_p99 hello d1 at 50 value}}/{{rate_max node d1}}\n",
        )
        self.assertEqual(render(self.root).returncode, 0)
        self.assertIn(f"1.030/1.009/3.0 % more/313 us/(withheld: {made_up.WHY_NODE})", self.text(MARKDOWN))


class Made(unittest.TestCase):
    """What the pages say."""

    @classmethod
    def setUpClass(cls):
        cls.record = artifact.Record(made_up.record(), "2001-01-01-full.json")
        cls.markdown, cls.html = check.made(os.path.dirname(BENCH), cls.record).values()

    def test_losses_are_those_of_the_figures(self):
        found, undecided = losses.rows(self.record)
        # The better peer: 4 multiples, 4 instructions, 2 rates, 2 peaks, 9 latencies, 1 at rest; nothing of the others.
        self.assertEqual({row[3] for row in found}, {"a peer that is quicker (sends no Date)"})
        self.assertEqual(len(found), 22)
        self.assertEqual(undecided, 3)
        self.assertEqual(sum(row[-1].startswith("perhaps") for row in found), 12)

    def test_a_run_in_stretches_says_so(self):
        self.assertNotIn("stretches", self.markdown)
        record = made_up.record()
        record["source"]["stretches"] = [{"began": "2001-01-01", "commit": "0" * 40}] * 2
        markdown, _ = check.made(os.path.dirname(BENCH), artifact.Record(record, "2001-01-01-full.json")).values()
        self.assertIn("hours in 2 stretches of the same source.", markdown)

    def test_a_loss_in_the_same_pair(self):
        record = made_up.record()
        claim = next(f for f in record["figures"] if f["against"] == "hyper")
        claim.update(made_up.figure("cpu_ratio", "hello", "d1", made_up.around(1.08), "hyper"))
        found, _ = losses.rows(artifact.Record(record))
        self.assertIn(["1.080 (1.058 to 1.102)", "hyper 1.x, in the same pair", "1", "yes"], [row[2:] for row in found])

    def test_a_missed_aim_is_a_loss(self):
        record = made_up.record()
        figure = next(f for f in record["figures"] if (f["metric"], f["server"], f["load"]) == ("cpu_ratio", "hello", "d1"))
        figure.update(made_up.figure("cpu_ratio", "hello", "d1", made_up.around(1.15), "floor"))
        found, _ = losses.rows(artifact.Record(record))
        self.assertIn("the aim of under 10 % over the floor with one request a write", [row[3] for row in found])
        self.assertIn("times, is missed.", check.made(os.path.dirname(BENCH), artifact.Record(record, "x.json"))[MARKDOWN])

    def test_every_figure_of_the_record_is_on_the_page(self):
        for figure in self.record.data["figures"]:
            text = (
                values.cell(figure)
                if figure["metric"] not in ("cpu_ratio",)
                else values.number_text("cpu_ratio", figure["value"]) if values.is_shown(figure) else values.refusal_text(figure)
            )
            self.assertIn(text, self.markdown, artifact.figure_name(figure))

    def test_reasons_stand_in_place_of_figures(self):
        self.assertIn(f"| Node | withheld: {made_up.WHY_NODE} |", self.markdown)
        self.assertIn(f"skipped: {made_up.WHY_GONE}", self.markdown)
        self.assertIn(f"skipped: {made_up.WHY_GONE}", self.html)

    def test_html_is_whole_and_stands_alone(self):
        xml.fromstring(
            self.html.replace("<!DOCTYPE html>", "")
            .replace('<meta charset="utf-8">', "")
            .replace('<meta name="viewport" content="width=device-width, initial-scale=1">', "")
        )
        for words in ("<script", "<link", "<img", "@import", "url(", "http://", "https://"):
            self.assertNotIn(words, self.html)
        names = re.findall(r' id="([^"]+)"', self.html)
        self.assertEqual(len(names), len(set(names)))
        drawn, told = self.html.count("<svg"), len(re.findall(r'<title id="[^"]+">[^<]+</title>\n<desc', self.html))
        self.assertEqual(drawn, told)
        self.assertGreater(drawn, 15)

    def test_text_of_the_record_cannot_become_html(self):
        record = made_up.record()
        record["servers"]["nginx"]["title"] = "<b>nginx</b> & |"
        markdown, page = check.made(os.path.dirname(BENCH), artifact.Record(record, "x.json")).values()
        self.assertNotIn("<b>nginx", page)
        self.assertIn("&lt;b&gt;nginx", page)
        self.assertIn("\\|", markdown)


class Texts(unittest.TestCase):
    def test_digits(self):
        for number, text in (
            (0, "0"),
            (0.01234, "0.0123"),
            (0.5, "0.500"),
            (9.996, "10.00"),
            (12.345, "12.3"),
            (123.4, "123"),
            (180432, "180,000"),
        ):
            self.assertEqual(values.significant(number), text)

    def test_units(self):
        for metric, number, text in (
            ("cpu_ns", 4900, "4.90 us"),
            ("cpu_ns", 450, "450 ns"),
            ("latency_p99", 1320, "1.32 ms"),
            ("cpu_ratio", 1.0304, "1.030"),
            ("cpu_ratio", 13.12, "13.1"),
            ("memory_peak", 2052096, "2.05 MB"),
            ("memory_idle", 272.384, "272 bytes"),
            ("instructions", 1388.04, "1,388"),
            ("instructions", 10.2575, "10.3"),
            ("system_calls", 2, "2.00"),
        ):
            self.assertEqual(values.number_text(metric, number), text)

    def test_labels_keep_apart_and_inside(self):
        placed = plots.spread_labels([100, 101, 102, 20], 15, 10, 110)
        self.assertEqual(placed[3], 20)
        self.assertTrue(all(later - earlier >= 15 for earlier, later in zip(placed[:3], placed[1:3])))
        self.assertLessEqual(max(placed), 110)

    def test_a_plot_of_nothing_says_so(self):
        drawn = plots.lines("x", "title", "unit", ["1"], [plots.Line("a", "c0", [None])], str)
        self.assertIn("No figure of this plot stands", drawn)

    def test_every_directive_of_the_template_is_known(self):
        with open(os.path.join(os.path.dirname(BENCH), check.TEMPLATE), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual({name for name in re.findall(r"\{\{section (\w+)\}\}", text)}, set(sections.SECTIONS))
        self.assertTrue(template.Template(text, check.TEMPLATE, None).blocks())


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1:]))
