#!/usr/bin/env python3
"""selfbench with a table of its own: rows, exit codes, going on after a kill, and the checker.

Usage: selfbench_test.py BREAKEVEN
"""

import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BREAKEVEN = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = ["group", "figure", "ours", "peer", "value", "target", "op", "unit", "holds", "samples"]
MODEL = """graph "tiny" {
  sym rows in [1, 64] hint 8
  %x = input "x" : f32[rows, 16]
  %y = aten.relu.default(self=%x) : f32[rows, 16]
  return %y
}
"""


def row(figure, probe, **more):
    made = {"figure": figure, "probe": probe, "model": "tiny", "sizes": {"rows": 5}, "dtype": "f32",
            "arm": "fused:static", "value": "ours", "op": "<=", "target": 1e9, "unit": "us",
            "processes": 2}
    made.update(more)
    return made


def ratio(figure, probe, **more):
    return row(figure, probe, **{"value": "ours/peer", "unit": "x", "peers": ["fused:dynamic"], **more})


ROWS = [
    row("dispatch", "dispatch", model="", sizes={}),
    row("new compiles", "new_compiles", arm="fused:dynamic", target=0, unit="compiles"),
    row("new compiles of static", "new_compiles", target=0, unit="compiles"),
    ratio("cold", "cold"),
    ratio("warm, bounded", "warm", by_bound=True),
    ratio("start", "start", processes=1),
    ratio("over starts", "geomean", of="^(cold|start)$", peers=[]),
    row("out of reach", "start", target=1e-3, processes=1),
    ratio("lost", "start", peers=["fused:dynamic", "no-such-arm"], processes=1),
    row("no model", "start", model="gone"),
]
GOOD = "^(dispatch|new compiles|cold|warm.*|start|over starts)$"


class Selfbench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "tiny.ir").write_text(MODEL)
        inputs = [{"name": "x", "dtype": "f32", "sizes": ["rows", 16], "fill_min": -1, "fill_max": 1}]
        self.table = {"group": "own", "threads": 1, "rows": ROWS,
                      "models": {"tiny": {"file": "tiny.ir", "inputs": inputs},
                                 "gone": {"file": "gone.pt2", "inputs": inputs, "export": ["mlp"]}}}
        self.write_table()

    def tearDown(self):
        self.folder.cleanup()

    def write_table(self):
        (self.path / "own.json").write_text(json.dumps(self.table))

    def test_a_file_of_something_else_or_out_of_reach_is_refused_at_once(self):
        foreign = self.path / "foreign.txt"
        foreign.write_text("my notes\n")
        for target, code in ((foreign, 2), (self.path, 2), (self.path / "no" / "such.jsonl", 5)):
            done = subprocess.run(self.command("-o", str(target)), capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(str(target), done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(foreign.read_text(), "my notes\n")

    def command(self, *arguments):
        return [BREAKEVEN, "selfbench", "--table", str(self.path / "own.json"), *arguments]

    def run_it(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=280)

    def check(self, file, *arguments):
        return subprocess.run([sys.executable, ROOT / "scripts/check_selfbench.py", file, "--table",
                               self.path / "own.json", *arguments], capture_output=True, text=True)

    def test_rows_say_what_was_measured_and_the_exit_code_follows(self):
        out = self.path / "rows.jsonl"
        done = self.run_it("--json", "-o", str(out))
        self.assertEqual(done.returncode, 1, done.stderr)
        table = json.loads(done.stdout)
        self.assertEqual(list(table), ["device", "versions", "rows"])
        rows = {one["figure"]: one for one in table["rows"]}
        self.assertEqual(list(rows), [one["figure"] for one in ROWS])
        for required in ROWS:
            one = rows[required["figure"]]
            self.assertEqual(list(one)[:len(KEYS)], KEYS)
            self.assertEqual(one["group"], "own")
            self.assertEqual(one["target"], required["target"])
        holding = [figure for figure, one in rows.items() if one["holds"]]
        self.assertEqual(holding, ["dispatch", "new compiles", "cold", "warm, bounded", "start",
                                   "over starts"], done.stderr)
        self.assertEqual(rows["new compiles of static"]["value"], 1)
        self.assertGreater(rows["out of reach"]["value"], 1e-3)
        self.assertIn("lost its peer", rows["lost"]["reason"])
        self.assertIn("no-such-arm", rows["lost"]["reason"])
        self.assertIn("export_model.py mlp", rows["no model"]["reason"])
        self.assertIsNone(rows["no model"]["value"])
        # A cold start compiles, a warm one does not; process start comes on top.
        self.assertGreater(rows["cold"]["ours"], 2 * rows["warm, bounded"]["ours"])
        self.assertGreater(rows["start"]["ours"], rows["warm, bounded"]["ours"])

        whole = self.path / "whole.json"
        whole.write_text(done.stdout)
        self.assertEqual(self.check(whole).returncode, 0, self.check(whole).stdout)
        self.assertEqual(self.check(whole, "--holds").returncode, 1)
        self.tampered_rows_turn_the_checker_red(table, whole)

        # The rows are kept: nothing is measured again, and the filter picks what is judged.
        again = self.run_it("--json", "-o", str(out), "--filter", GOOD)
        self.assertEqual(again.returncode, 0, again.stderr)
        for one in json.loads(again.stdout)["rows"]:
            self.assertEqual(one["raw"], rows[one["figure"]]["raw"])
        # What was lost stays lost, though its line has samples.
        again = self.run_it("--json", "-o", str(out), "--filter", "^lost$")
        self.assertEqual(again.returncode, 1)
        self.assertIn("lost its peer", json.loads(again.stdout)["rows"][0]["reason"])

    def tampered_rows_turn_the_checker_red(self, table, file):
        def holds(one):
            one["holds"] = not one["holds"]

        def value(one):
            one["value"] = (one["value"] or 1) * 0.5

        def target(one):
            one["target"] *= 2

        def sample(one):
            one["raw"][0]["ours"][0] = [one["raw"][0]["ours"][0][0] * 3 + 1]

        def process(one):
            one["raw"][0]["ours"].pop()

        for figure, change in [("dispatch", holds), ("lost", holds), ("cold", value),
                               ("over starts", value), ("out of reach", target), ("start", sample),
                               ("warm, bounded", process)]:
            bad = copy.deepcopy(table)
            change(next(one for one in bad["rows"] if one["figure"] == figure))
            file.write_text(json.dumps(bad))
            self.assertEqual(self.check(file).returncode, 1, (figure, change.__name__))
        file.write_text(json.dumps({**table, "rows": table["rows"][1:]}))
        self.assertEqual(self.check(file).returncode, 1, "a required row is gone")
        self.assertEqual(self.check(file, "--partial").returncode, 0)

    def test_goes_on_after_a_kill(self):
        out = self.path / "rows.jsonl"
        command = self.command("-o", str(out), "--filter", GOOD)
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        end = time.monotonic() + 120
        while time.monotonic() < end and (not out.exists() or out.read_text().count("\n") < 2):
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        before = out.read_text().splitlines()
        self.assertGreaterEqual(len(before), 2)
        with out.open("a") as file:
            file.write('{"group": "own", "figure": "cold", "ou')  # Killed while it wrote.
        done = self.run_it("-o", str(out), "--filter", GOOD)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        after = out.read_text().splitlines()
        self.assertEqual(after[:2], before[:2])
        figures = [json.loads(line)["figure"] for line in after if line.endswith("}")]
        self.assertEqual(sorted(figures), sorted(set(figures)), "no row is measured twice")
        self.assertEqual(len(figures), 6)
        self.assertEqual(self.check(out, "--partial").returncode, 0, self.check(out, "--partial").stdout)

        # A row whose definition changed is another row.
        self.table["rows"][0]["target"] = 1e8
        self.write_table()
        self.run_it("-o", str(out), "--filter", "^dispatch$")
        self.assertEqual(len(out.read_text().splitlines()), len(after) + 1)

    def test_what_cannot_be_read_is_exit_two(self):
        self.assertEqual(self.run_it("--filter", "(").returncode, 2)
        self.assertEqual(self.run_it("--filter", "no such figure").returncode, 2)
        unknown = subprocess.run([BREAKEVEN, "selfbench", "--group", "no-such"], capture_output=True,
                                 text=True)
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("cpu", unknown.stderr)
        for key, value in [("probe", "guess"), ("op", "<"), ("unit", "x"), ("model", "none"),
                           ("peer", ["eager"]), ("target", "fast")]:
            self.table["rows"] = [{**ROWS[0], key: value}]
            self.write_table()
            done = self.run_it()
            self.assertEqual((done.returncode, done.stdout), (2, ""), (key, done.stderr))

    def test_the_committed_table_is_sound(self):
        done = subprocess.run([BREAKEVEN, "selfbench", "--table", ROOT / "scenarios/selfbench/cpu.json",
                               "--filter", "guard check"], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # A build with sanitizers is slower.
        self.assertIn("guard check", done.stdout)
        table = json.loads((ROOT / "scenarios/selfbench/cpu.json").read_text())
        used = {one.get("model") for one in table["rows"]}
        self.assertEqual(set(table["models"]) - used, set())


if __name__ == "__main__":
    unittest.main()
