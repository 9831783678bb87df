#!/usr/bin/env python3
"""Judges a table of `breakeven selfbench` again, from its raw samples and the committed figures alone.

Reads the object that `selfbench --json` prints or the lines that `selfbench -o` writes. For each figure of
the group's table: the row must be there, carry the committed target, and say `value` and `holds` as the raw
samples give them. Rows of figures that are not required are faults too, unless --partial.

Exit 0 when every row is as its samples say, 1 with a line for each that is not, 2 on bad usage. Whether the
figures hold is selfbench's own exit code; --holds asks for that as well.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import sys

UNIT_NS = {"us": 1e3, "ms": 1e6, "s": 1e9, "x": 1, "compiles": 1}
# Student's t, one-sided 95 %.
T95 = [6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833]


def read_rows(path):
    text = path.read_text(encoding="utf-8")
    try:
        whole = json.loads(text)
        if isinstance(whole, dict) and "rows" in whole:
            return {row["figure"]: row for row in whole["rows"]}
    except json.JSONDecodeError:
        pass
    rows = {}
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue  # Cut short by a kill.
        rows[row["figure"]] = row
    return rows


def middle(side):
    return statistics.median(statistics.median(process) for process in side)


def measured(side):
    return bool(side) and all(side)


def ratio(required, pair):
    ratios = [statistics.median(o) / statistics.median(p) for o, p in zip(pair["ours"], pair["peer"])]
    if required["value"] == "peer/ours":
        ratios = [1 / r for r in ratios]
    if not required.get("by_bound"):
        return statistics.median(ratios)
    if len(ratios) < 2:
        return None
    logs = [math.log(r) for r in ratios]
    t = T95[len(logs) - 2] if len(logs) - 1 <= len(T95) else 1.812
    margin = t * statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.fmean(logs)
    return math.exp(mean + margin if required["op"] == "<=" else mean - margin)


def value_of(required, raw):
    """The judged number, or None when samples are missing."""
    values = []
    for pair in raw:
        if not measured(pair["ours"]):
            continue
        if required["value"] == "ours":
            values.append(middle(pair["ours"]) / UNIT_NS[required["unit"]])
        elif measured(pair["peer"]):
            values.append(ratio(required, pair))
    values = [v for v in values if v is not None]
    if not values:
        return None
    return max(values) if required["op"] == "<=" else min(values)


def geomean(required, table, rows):
    logs = []
    for other in table["rows"]:
        if not re.search(required["of"], other["figure"]):
            continue
        row = rows.get(other["figure"])
        if row is None or row["reason"] or value_of(other, row["raw"]) is None:
            return None
        # Of the pair that was judged: the one we look worst against.
        pairs = [p for p in row["raw"] if measured(p["ours"]) and measured(p["peer"])]
        pair = max(pairs, key=lambda p: ratio(other, p) or 0)
        logs.append(math.log(middle(pair["ours"]) / middle(pair["peer"])))
    return math.exp(statistics.fmean(logs)) if logs else None


def close(a, b):
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))


def faults_of(required, row, table, rows):
    for key in ("target", "op", "unit"):
        if row[key] != required[key]:
            yield f"{key} is {row[key]!r}, required is {required[key]!r}"
    if required["probe"] == "geomean":
        value = geomean(required, table, rows)
    else:
        value = value_of(required, row["raw"])
    if not close(value, row["value"]):
        yield f"value is {row['value']}, its samples give {value}"
    processes = required.get("processes", 3)
    complete = required["probe"] == "geomean" or all(len(p["ours"]) == processes for p in row["raw"])
    lost = set(required.get("peers", [])) - {p["against"] for p in row["raw"] if measured(p["peer"])}
    holds = value is not None and not row["reason"] and complete and not lost
    if holds:
        holds = value <= required["target"] if required["op"] == "<=" else value >= required["target"]
    if holds != row["holds"]:
        yield f"holds is {row['holds']}, its samples say {holds}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="default: scenarios/selfbench/cpu.json",
                        default=pathlib.Path(__file__).resolve().parent.parent / "scenarios/selfbench/cpu.json")
    parser.add_argument("--partial", action="store_true", help="rows may be missing (selfbench --filter)")
    parser.add_argument("--holds", action="store_true", help="every row must hold, too")
    arguments = parser.parse_args()
    table = json.loads(arguments.table.read_text(encoding="utf-8"))
    rows = read_rows(arguments.file)
    found = []
    for required in table["rows"]:
        figure = required["figure"]
        row = rows.get(figure)
        if row is None:
            if not arguments.partial:
                found.append(f"{figure}: missing")
            continue
        found += [f"{figure}: {fault}" for fault in faults_of(required, row, table, rows)]
        if arguments.holds and not row["holds"]:
            found.append(f"{figure}: does not hold")
    names = {required["figure"] for required in table["rows"]}
    found += [f"{figure}: not a required figure" for figure in rows if figure not in names]
    print("\n".join(found) if found else f"{len(rows)} rows are as their samples say")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
