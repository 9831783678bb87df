#!/usr/bin/env python3
"""Whole runs with PyTorch's own arms: all of them on a small model, and arms that raise, crash and hang.

usage: peer_run_test.py BREAKEVEN
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else ""
# Scalar kernels and no precompiled header: Inductor's own checks of the compiler take longer than all the
# tests, and what is looked at here does not depend on them.
os.environ |= {"TORCHINDUCTOR_VEC_ISA_OK": "0", "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
HERE = pathlib.Path(__file__).resolve().parent
COMPILED = ["torch-compile:default", "torch-compile:default:dynamic", "torch-compile:default:freezing"]


def run(scenario, folder, code=0, **environment):
    """Results of a run of the scenario that ends with `code`; its models are the test's own."""
    file = HERE / f".{os.getpid()}-{pathlib.Path(folder).name}.json"  # Beside peer_models.py.
    file.write_text(json.dumps(scenario), encoding="utf-8")
    try:
        out = pathlib.Path(folder) / "out"
        done = subprocess.run([PROGRAM, "run", str(file), "-o", str(out), "--quiet"],
                              env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        if done.returncode != code:
            raise AssertionError(f"exit {done.returncode}: {done.stderr}")
        return (json.loads((out / "results.json").read_text(encoding="utf-8")),
                json.loads((out / "report.json").read_text(encoding="utf-8")), (out / "report.html").read_text())
    finally:
        file.unlink()


def small(**changes):
    scenario = json.loads((HERE / "scenario.json").read_text(encoding="utf-8"))
    scenario["model"] |= changes.pop("model", {})
    scenario["measure"] |= changes.pop("measure", {})
    return scenario | changes


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory(prefix="breakeven-peers-")
        cls.addClassCleanup(kept.cleanup)
        cls.archive = str(pathlib.Path(kept.name) / "tiny.pt2")
        code = ("import torch, peer_models; torch.export.save(torch.export.export("
                "peer_models.tiny().eval(), (torch.ones(4, 8),), "
                "dynamic_shapes=({0: torch.export.Dim('batch', min=1, max=64)},)), "
                f"{cls.archive!r})")
        subprocess.run([sys.executable, "-c", code], cwd=HERE, check=True, capture_output=True)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="breakeven-peers-")
        self.addCleanup(self.folder.cleanup)

    def trial(self, results, arm, phase):
        return next(one for one in results["trials"] if (one["arm"], one["phase"]) == (arm, phase))

    def test_every_arm_runs_and_tells_what_it_did(self):
        results, report, page = run(small(), self.folder.name)
        failures = [(one["arm"], one["phase"], one["failure"]) for one in results["trials"] if not one["ok"]
                    and "closed-loop" not in one["failure"]]
        self.assertEqual(failures, [])
        self.assertTrue(all(one["ok"] for one in results["accuracy"]))
        compared = {one["arm"] for one in results["accuracy"]}
        self.assertEqual(compared, set(results["arms"]) - {"eager"})
        self.assertEqual(results["environment"]["python_torch"], results["environment"]["torch"])
        for arm in COMPILED:
            self.check_compiled(results, arm)
            self.assertIn(arm, page)
        self.assertIn("size mismatch at index 0", page)
        self.assertEqual(len(report["arms"]), len(results["arms"]))
        # Frozen graphs pass Inductor's cache by; a package is read back.
        frozen = self.trial(results, COMPILED[2], "warm_disk")
        self.assertEqual(frozen["compiles"][0]["misses"], ["fx graph cache passed by"])
        package = self.trial(results, "aot-inductor", "warm_disk")["compiles"][0]
        self.assertEqual((package["compiled"], package["from_disk"]), (0, 1))
        checksums = {one["counters"]["weights_checksum"] for one in results["trials"]
                     if "weights_checksum" in one["counters"]}
        self.assertEqual(len(checksums), 1)

    def check_compiled(self, results, arm):
        cold, warm = (self.trial(results, arm, phase) for phase in ("cold", "warm_disk"))
        shapes = {one["shape"] for one in cold["compiles"]}
        is_dynamic = arm.endswith(":dynamic")
        self.assertEqual(shapes, {"batch=4"} if is_dynamic else {"batch=4", "batch=2"})
        for one in cold["compiles"][1:]:
            self.assertEqual(one["trigger"], "recompile")
            self.assertIn("expected 4, actual 2", one["failed_guard"])
        self.assertEqual(cold["counters"]["recompiles"], len(cold["compiles"]) - 1)
        self.assertGreater(cold["counters"]["kernels_compiled"], 0)
        self.assertEqual(cold["counters"]["fallback_requests"], 0)
        names = [stage["name"] for stage in cold["stages"]]
        for stage in ("python", "load", "trace", "passes", "codegen", "compile", "first_run"):
            self.assertIn(stage, names)
        if not arm.endswith(":freezing"):
            self.assertEqual(warm["counters"]["kernels_compiled"], 0)
            self.assertGreater(warm["counters"]["kernels_from_disk"], 0)
            self.assertIn("cache_load", [stage["name"] for stage in warm["stages"]])

    def check_one_arm_fails(self, factory, says, measure=None, **environment):
        """eager has the archive; torch-eager has the factory, and must fail alone."""
        scenario = small(model={"file": self.archive, "factory": f"peer_models:{factory}"},
                         arms=["eager", "torch-eager"], measure=measure or {})
        results, _, page = run(scenario, self.folder.name, **environment)
        by_arm = {arm: [one for one in results["trials"] if one["arm"] == arm] for arm in scenario["arms"]}
        self.assertEqual(len(by_arm["eager"]), 5)
        self.assertTrue(all(one["ok"] for one in by_arm["eager"]))
        self.assertFalse(any(one["ok"] for one in by_arm["torch-eager"]))
        self.assertIn(says, by_arm["torch-eager"][0]["failure"])
        self.assertIn("torch-eager", page)

    def test_an_exception_fails_alone(self):
        self.check_one_arm_fails("raises", "ValueError: no answer for this request")

    def test_a_crash_fails_alone(self):
        self.check_one_arm_fails("crashes", "SIGSEGV")

    def test_a_hang_fails_alone(self):
        self.check_one_arm_fails("hangs", "timed out", measure={"trial_timeout_s": 6})

    def test_without_the_plugin_its_arms_fail_alone_and_doctor_says_so(self):
        # The folder has no plugin, and so no in-process clang either.
        self.check_one_arm_fails("tiny", "breakeven_python.so is not beside the program",
                                 BREAKEVEN_PLUGIN_DIR=self.folder.name)
        said = subprocess.run([PROGRAM, "doctor", "--json"], check=True, capture_output=True, text=True,
                              env={**os.environ, "BREAKEVEN_PLUGIN_DIR": self.folder.name}).stdout
        part = next(one for one in json.loads(said)["parts"] if one["what"] == "Python for peers")
        self.assertFalse(part["present"])
        self.assertIn("python3-dev", part["detail"])

    def test_weights_that_change_between_processes_are_refused(self):
        scenario = small(model={"factory": "peer_models:unseeded"}, arms=["torch-eager"])
        results, _, _ = run(scenario, self.folder.name, code=5)  # No baseline, no comparison.
        failures = [one["failure"] for one in results["trials"]]
        self.assertEqual(failures[0], "")
        self.assertTrue(all("weights are not those" in one for one in failures[1:]), failures)


if __name__ == "__main__":
    unittest.main()
