#!/usr/bin/env python3
"""A run's own requests, written as a user's CSV and imported again, give the same decision and numbers.

usage: import_run_test.py BREAKEVEN
"""

import csv
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else ""
SCENARIO = {
    "breakeven": 1, "name": "own-service",
    "model": {"name": "fake", "script": {"service_ms": 1, "first_shape_stall_ms": 30}},
    "dims": {"length": {"min": 1, "max": 64}},
    "inputs": [{"name": "x", "dtype": "f32", "sizes": ["length"]}],
    "shapes": {"length": {"kind": "list", "sizes": [{"size": 7, "weight": 3}, {"size": 9, "weight": 1}]}},
    "traffic": {"kind": "poisson", "rate_per_s": 150, "origin": "given"}, "slo_p99_ms": 20,
    "arms": ["scripted", "null"], "life": {"restarts_per_day": 2, "origin": "given"},
    "price": {"usd_per_hour": 1, "device": "one core", "origin": "given"},
    "measure": {"processes": 3, "start_seconds": 0.5, "traffic_seconds": 1, "steady_requests": 60},
}
COLUMNS = ["id", "due", "sent", "start", "done", "compile", "load", "wait", "batch"]


def raw_samples(file):
    """The columns of a raw file, as reports/schema/raw_samples.h lays them out."""
    data = file.read_bytes()
    count = struct.unpack_from("<Q", data, 16)[0]
    columns, at = {}, 32
    for name in COLUMNS:
        columns[name] = struct.unpack_from(f"<{count}q", data, at)
        at += 8 * count
    columns["shape"] = struct.unpack_from(f"<{count}i", data, at)
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


class ImportRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="breakeven-import-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.folder / "scenario.json"
        self.scenario.write_text(json.dumps(SCENARIO), encoding="utf-8")

    def program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], capture_output=True, text=True,
                              check=False)

    def write_csv(self, rows, columns):
        file = self.folder / "own.csv"
        with open(file, "w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, columns)
            writer.writeheader()
            writer.writerows(rows)
        return file

    def rows_of_run(self, directory):
        for trial in json.loads((directory / "results.json").read_text())["trials"]:
            if not trial["raw_file"]:
                continue
            samples = sorted(raw_samples(directory / trial["raw_file"]), key=lambda one: one["due"])
            # A start's stamps count from the first request; the process began before that.
            shift = trial["first_result_ns"] - samples[0]["done"] if trial["phase"] in ("cold", "warm_disk") else 0
            for one in samples:
                yield {"arm": trial["arm"], "phase": trial["phase"], "process": trial["process"],
                       "arrival_s": f"{(one['due'] + shift) / 1e9:.9f}",
                       "latency_ms": f"{(one['done'] - one['due']) / 1e6:.6f}",
                       "service_ms": f"{(one['done'] - one['start']) / 1e6:.6f}",
                       "compile_ms": f"{one['compile'] / 1e6:.6f}", "shape": trial["shapes"][one["shape"]]}

    def test_the_decision_is_that_of_the_run(self):
        measured = self.folder / "measured"
        self.assertEqual(self.program("run", self.scenario, "-o", measured).returncode, 0)
        rows = list(self.rows_of_run(measured))
        file = self.write_csv(rows, list(rows[0]))
        imported = self.folder / "imported"
        done = self.program("import-run", self.scenario, "--csv", file, "-o", imported)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (json.loads((one / "report.json").read_text()) for one in (measured, imported))
        self.assertEqual(before["verdict"], after["verdict"])
        self.assertEqual([one["arm"] for one in before["arms"]], [one["arm"] for one in after["arms"]])
        # What an imported run cannot know: whether this program's own generator was late.
        reasons = [sorted(one["rule"] for one in report["reasons"]
                          if one["rule"] != "generator_invalid") for report in (before, after)]
        self.assertEqual(reasons[0], reasons[1])
        for was, now in zip(before["arms"], after["arms"]):
            was["pays"], now["pays"] = (one["break_even"]["cache_lost"]["requests"] for one in (was, now))
            for metric in ("speedup", "p99_ms", "cold_start_ms", "warm_start_ms", "pays", "recompiles_per_1000"):
                one, other = was[metric]["value"], now[metric]["value"]
                self.assertEqual(one is None, other is None, (was["arm"], metric))
                if one is not None:
                    self.assertAlmostEqual(one, other, delta=1e-3 * abs(one) + 1e-9, msg=metric)

    def test_plain_latencies_are_enough_for_the_tail(self):
        rows = [{"arm": arm, "arrival_s": i * 0.01, "latency_ms": cost + i % 7, "shape": "any"}
                for arm, cost in (("old", 5), ("new", 3)) for i in range(800)]
        out = self.folder / "plain"
        done = self.program("import-run", self.scenario, "--csv", self.write_csv(rows, list(rows[0])), "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        arms = json.loads((out / "report.json").read_text())["arms"]
        self.assertEqual([one["arm"] for one in arms], ["old", "new"])
        self.assertEqual([one["p99_ms"]["value"] for one in arms], [11, 9])

    def test_every_bad_row_is_told_with_its_place(self):
        rows = [{"arm": "a", "arrival_s": 1, "latency_ms": 5, "shape": "s"},
                {"arm": "a", "arrival_s": 0.5, "latency_ms": 5, "shape": "s"},
                {"arm": "a", "arrival_s": 2, "latency_ms": "soon", "shape": "s"},
                {"arm": "", "arrival_s": 3, "latency_ms": 5, "shape": "s"}]
        done = self.program("import-run", self.scenario, "--csv", self.write_csv(rows, list(rows[0])), "-o",
                            self.folder / "bad")
        self.assertEqual(done.returncode, 2)
        for place in ("own.csv:3:", "own.csv:4:", "own.csv:5:"):
            self.assertIn(place, done.stderr)


if __name__ == "__main__":
    unittest.main()
