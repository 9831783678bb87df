#!/usr/bin/env python3
"""Plants each fault of tests/mutants/*.json in a copy of the source and checks that a test turns red.

A mutant is one replacement in one file: {"name", "why", "file", "find", "replace", "targets", "tests"}.
`find` must occur exactly once. `targets` are built, then ctest runs the tests whose names match the
regular expression `tests`; the mutant is killed when at least one of them fails, and it survives when
they all pass (or none ran). The unmutated copy must pass the same tests first.

Exit 0 when every mutant is killed, 1 when one survives or does not apply, 2 on bad usage.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEYS = {"name", "why", "file", "find", "replace", "targets", "tests"}


def load_mutants(folder, pattern):
    mutants = []
    for path in sorted(folder.glob("*.json")):
        for mutant in json.loads(path.read_text(encoding="utf-8")):
            if set(mutant) != KEYS:
                sys.exit(f"{path}: {mutant.get('name')}: keys must be {sorted(KEYS)}")
            if re.search(pattern, mutant["name"]):
                mutants.append(mutant)
    names = [m["name"] for m in mutants]
    if len(set(names)) != len(names):
        sys.exit("mutant names repeat")
    return mutants


def sync_copy(copy):
    """A copy of the tracked and new files, whose unchanged files keep their time stamps."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            check=True, capture_output=True).stdout.decode().split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for path in [p for p in copy.rglob("*") if p.is_file() or p.is_symlink()]:
        name = path.relative_to(copy).as_posix()
        if not name.startswith(("build/", ".venv")) and name not in wanted:
            path.unlink()
    for name in wanted:
        source, target = ROOT / name, copy / name
        if not target.exists() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            target.touch()
    if not (copy / ".venv").exists() and (ROOT / ".venv").exists():
        (copy / ".venv").symlink_to(ROOT / ".venv")
    for model in (ROOT / "scenarios/models").glob("*.pt2"):
        link = copy / "scenarios/models" / model.name
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(model)


def build(copy, preset, targets, jobs):
    if not (copy / "build" / preset / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", preset], cwd=copy, check=True, capture_output=True)
    return subprocess.run(["cmake", "--build", "--preset", preset, "-j", str(jobs), "--target",
                           *targets], cwd=copy, capture_output=True, text=True)


def run_tests(copy, preset, pattern):
    """(ran, failed) of ctest -R pattern."""
    done = subprocess.run(["ctest", "-R", pattern, "--no-tests=error", "--timeout", "300"],
                          cwd=copy / "build" / preset, capture_output=True, text=True)
    closing = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", done.stdout)
    if closing is None:
        return 0, 0
    return int(closing.group(3)), int(closing.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="release")
    parser.add_argument("--filter", default="", help="regular expression on mutant names")
    parser.add_argument("--copy", default=str(ROOT / "build/mutants"), help="folder of the copy")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    mutants = load_mutants(ROOT / "tests/mutants", arguments.filter)
    if not mutants:
        sys.exit("no mutant matches")
    copy = pathlib.Path(arguments.copy)
    copy.mkdir(parents=True, exist_ok=True)
    sync_copy(copy)
    targets = sorted({t for m in mutants for t in m["targets"]})
    built = build(copy, arguments.preset, targets, arguments.jobs)
    if built.returncode != 0:
        sys.exit("the unmutated copy does not build:\n" + built.stdout[-4000:])
    survived = []
    for mutant in mutants:
        start = time.monotonic()
        outcome = judge(copy, mutant, arguments)
        print(f"{outcome:<10} {mutant['name']}: {mutant['why']} ({time.monotonic() - start:.0f} s)",
              flush=True)
        if outcome != "killed":
            survived.append(mutant["name"])
    print(f"{len(mutants) - len(survived)} of {len(mutants)} planted faults turn a test red")
    if survived:
        print("not killed: " + ", ".join(survived))
    return 1 if survived else 0


def judge(copy, mutant, arguments):
    # The last mutant's source is as before, its programs are not.
    if build(copy, arguments.preset, mutant["targets"], arguments.jobs).returncode != 0:
        return "unbuilt"
    ran, failed = run_tests(copy, arguments.preset, mutant["tests"])
    if ran == 0:
        return "no test"
    if failed:
        return "red before"
    path = copy / mutant["file"]
    original = path.read_text(encoding="utf-8")
    if original.count(mutant["find"]) != 1:
        return "misplaced"
    path.write_text(original.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
    try:
        built = build(copy, arguments.preset, mutant["targets"], arguments.jobs)
        if built.returncode != 0:
            return "unbuilt"
        _, failed = run_tests(copy, arguments.preset, mutant["tests"])
        return "killed" if failed else "SURVIVED"
    finally:
        path.write_text(original, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
