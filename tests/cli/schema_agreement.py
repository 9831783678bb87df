#!/usr/bin/env python3
"""Holds `breakeven validate` against scenarios/scenario.schema.json.

Takes the scenarios of the repository, changes one thing at a time, and asks both. Faults that no
schema can express (a dim that is not declared, a file that is not there) are kept apart.
"""

import copy
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

PROGRAM, SCENARIOS = sys.argv[1], os.path.abspath(sys.argv[2])

# Values put in place of each value of a scenario, one at a time.
REPLACEMENTS = [None, True, "", "x", 0, -1, 1, 2.5, 1e6, 1e16, [], {}, ["x"], {"kind": "fixed"}]
# Words of faults that only the loader can see.
SEMANTIC = [
    "needs \"model", "needs \"inputs", "no dim has", "no dim is", "lies outside", "below", "names no policy",
    "cannot read", "no such column", "no row meets", "is neither .pt2", "no published order",
    "would be stopped", "more than 20 million", "same name",
]


def places(value, path=()):
    """Paths of all values inside `value`, itself included."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, path + (key,))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, path + (index,))


def variants(scenario):
    yield scenario
    for path in list(places(scenario)):
        if not path:
            continue
        for replacement in REPLACEMENTS:
            changed = copy.deepcopy(scenario)
            target = changed
            for step in path[:-1]:
                target = target[step]
            target[path[-1]] = replacement
            yield changed
        removed = copy.deepcopy(scenario)
        target = removed
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]
        yield removed
        if isinstance(path[-1], str):
            renamed = copy.deepcopy(scenario)
            target = renamed
            for step in path[:-1]:
                target = target[step]
            target[path[-1] + "s"] = target.pop(path[-1])
            yield renamed


def main():
    with open(os.path.join(SCENARIOS, "scenario.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    sources = [name for name in sorted(os.listdir(SCENARIOS))
               if name.endswith(".json") and name != "scenario.schema.json"]
    cases = []
    for name in sources:
        with open(os.path.join(SCENARIOS, name), encoding="utf-8") as file:
            cases += list(variants(json.load(file)))
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(SCENARIOS, "traces"), os.path.join(folder, "traces"))
        files = []
        for index, case in enumerate(cases):
            files.append(os.path.join(folder, f"{index}.json"))
            with open(files[-1], "w", encoding="utf-8") as file:
                json.dump(case, file)
        verdicts = []
        for start in range(0, len(files), 200):
            answer = subprocess.run([PROGRAM, "validate", "--json"] + files[start:start + 200],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            verdicts += json.loads(answer.stdout)
    disagreements, invalid = 0, 0
    for case, verdict in zip(cases, verdicts):
        fits = validator.is_valid(case)
        faults = verdict.get("faults", [])
        shape_faults = [fault for fault in faults
                        if not any(word in fault["message"] for word in SEMANTIC)]
        invalid += not fits
        if fits == (not shape_faults):
            continue
        disagreements += 1
        if disagreements <= 10:
            print("schema:", fits, "loader:", [fault["message"] for fault in shape_faults])
            print(json.dumps(case)[:600])
    print(f"{len(cases)} scenarios, {invalid} invalid by the schema, {disagreements} disagreements")
    if len(cases) < 1000 or invalid < 500:
        sys.exit("too few cases to mean anything")
    sys.exit(1 if disagreements else 0)


main()
