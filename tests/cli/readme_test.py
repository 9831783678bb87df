#!/usr/bin/env python3
"""Runs the commands of README.md's shell blocks that name the built program, and checks that the files
they name exist. Commands that measure for minutes are checked by validating their scenario instead.

usage: readme_test.py BREAKEVEN
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands(text):
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.splitlines():
            line = line.split("#")[0].strip()
            if line:
                yield line


def run_python_blocks(text, folder):
    """Returns what is wrong, or an empty string; without torch's Python nothing is run."""
    python = ROOT / ".venv/bin/python"
    if not python.exists():
        return ""
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        done = subprocess.run([python, "-c", block], cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            return f"a Python block fails: {done.stderr[-500:]}"
    return ""


def check(command, program, folder):
    """Returns what is wrong, or an empty string."""
    words = shlex.split(command)
    if words[0].startswith("scripts/"):
        return "" if (ROOT / words[0]).exists() else "no such script"
    if words[0] != "build/release/breakeven":
        return "neither a script nor the program"
    words[0] = program
    words = [str(folder / w) if w in ("my-service.json", "my-model.pt2") else w for w in words]
    words = [str(ROOT / w) if w.startswith("scenarios/") else w for w in words]
    if words[1] == "selfbench":  # Hours.
        words = [program, "selfbench", "--help"]
    if words[1] == "run":  # Measuring takes minutes; its input must at least be right.
        words = [program, "validate", *[w for w in words[2:] if w.endswith(".json")]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if "this build has no LibTorch" in done.stderr:  # It has said so, and what reads .pt2 ends there.
        plain = command.replace("--model my-model.pt2 ", "")
        return "" if plain == command else check(plain, program, folder)
    return "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-500:]}"


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = list(commands(text))
    failures = []
    with tempfile.TemporaryDirectory() as name:
        wrong = run_python_blocks(text, name)
        if wrong:
            failures.append(wrong)
        for command in found:
            if "my-model.pt2" in command and not (pathlib.Path(name) / "my-model.pt2").exists():
                command = command.replace("--model my-model.pt2 ", "")
            if "explain" in command and not (ROOT / "scenarios/models/distilbert.pt2").exists():
                print(f"left out, the model is not exported: {command}")
                continue
            wrong = check(command, program, pathlib.Path(name))
            print(f"{'FAILED' if wrong else 'ok'}  {command}")
            if wrong:
                failures.append(f"{command}: {wrong}")
    print("\n".join(failures))
    if len(found) < 6:
        failures.append("README.md has fewer commands than it should")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
