#!/usr/bin/env python3
"""Manners that no formatter holds: file and function length, unfinished work, this machine's paths.

Prints file:line for every breach; exit 1 when there is one.
"""

import pathlib
import re
import subprocess
import sys

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|GTEST_SKIP|DISABLED_")
# Absolute paths of somebody's machine do not belong in a product.
HOME = re.compile(r"(?<![\w.])/(root|home/\w+|work)/[\w.]")
# Rows of a table inside a function are data: they do not make it harder to follow.
TABLE_ROW = re.compile(r'^\s*(\{|"|[A-Z]\w*Case\{|rows\.push_back|all\.push_back|\[\]\(X x\)|name, rule<|\w+Situation\{)')
FUNCTION_START = re.compile(r"^[A-Za-z_].*\)( const)?( noexcept)?( override)? \{$")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", *patterns],
                            check=True, capture_output=True).stdout.decode()
    return [pathlib.Path(name) for name in listed.split("\0") if name and pathlib.Path(name).is_file()]


def long_functions(path, lines):
    start, rows = None, 0
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION_START.match(line):
            start, rows = number, 0
        elif start is not None and line == "}":
            length = number - start + 1 - rows
            if length > MAX_FUNCTION_LINES:
                yield f"{path}:{start}: function of {length} lines (at most {MAX_FUNCTION_LINES})"
            start = None
        elif TABLE_ROW.match(line):
            rows += 1


def main():
    breaches = []
    for path in tracked("*.cpp", "*.h", "*.py", "*.sh", "scripts/*", "*.cmake", "CMakeLists.txt"):
        if path.name == "lint_source.py":
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.suffix in (".cpp", ".h", ".py"):
            if len(lines) > MAX_FILE_LINES:
                breaches.append(f"{path}:1: {len(lines)} lines (at most {MAX_FILE_LINES})")
        if path.suffix in (".cpp", ".h") and path.parts[0] != "tests":
            breaches += long_functions(path, lines)
        for number, line in enumerate(lines, 1):
            if "runs as a child of" in line:  # A test's second process skips itself in the first.
                continue
            if UNFINISHED.search(line) or HOME.search(line):
                breaches.append(f"{path}:{number}: {line.strip()[:100]}")
    print("\n".join(breaches) if breaches else "source manners are kept")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
