#!/usr/bin/env python3
"""Holds the layering of ARCHITECTURE.md against the #include lines.

A folder may include only itself and the folders named for it in LAYERS; LibTorch, CUDA, JSON and CLI11
headers may appear only where EXTERNAL says. Prints file:line for every breach; exit 1 when there is one.
"""

import pathlib
import re
import sys

# Folder -> folders whose headers it may include. Order is the order of the layers.
LAYERS = {
    "compiler/support": [],
    "compiler/ir": ["compiler/support"],
    "compiler/passes": ["compiler/support", "compiler/ir"],
    "compiler/fuse": ["compiler/support", "compiler/ir"],
    "compiler/schedule": ["compiler/support", "compiler/ir", "compiler/fuse"],
    "compiler/codegen": ["compiler/support", "compiler/ir", "compiler/fuse", "compiler/schedule",
                         "compiler/codegen/clang"],
    "compiler/codegen/clang": [],
    "compiler/runtime": ["compiler/support", "compiler/ir", "compiler/passes", "compiler/fuse",
                         "compiler/schedule", "compiler/codegen"],
    "compiler/torch": ["compiler/support", "compiler/ir", "compiler/passes", "compiler/runtime"],
    "compiler/cuda": ["compiler/support", "compiler/ir", "compiler/runtime"],
    "reports/schema": ["compiler/support"],
    "reports/stats": ["compiler/support", "reports/schema"],
    "reports/model": ["compiler/support", "reports/schema", "reports/stats"],
    "reports/decide": ["compiler/support", "reports/schema", "reports/stats", "reports/model"],
    "reports/gate": ["compiler/support", "reports/schema", "reports/stats", "reports/model"],
    "reports/render": ["compiler/support", "reports/schema", "reports/stats", "reports/model",
                       "reports/decide", "reports/gate"],
    "harness/scenario": ["compiler/support", "compiler/ir"],
    "harness/traffic": ["compiler/support", "compiler/ir", "harness/scenario"],
    "harness/record": ["compiler/support", "reports/schema"],
    "harness/executors": ["compiler/support", "compiler/ir", "compiler/codegen", "compiler/runtime",
                          "harness/scenario", "harness/executors/python"],
    "harness/executors/python": [],
    "harness/executors/torch": ["compiler/support", "compiler/ir", "compiler/runtime",
                                "compiler/torch", "harness/scenario", "harness/executors"],
    "harness/executors/notorch": ["compiler/support", "compiler/ir", "compiler/runtime",
                                  "harness/scenario", "harness/executors"],
    "harness/probes": ["compiler/support"],
    "harness/measure": ["compiler/support", "compiler/ir", "compiler/runtime", "harness/scenario",
                        "harness/traffic", "harness/record", "harness/executors", "harness/probes",
                        "reports/schema", "reports/stats", "reports/model"],
    "harness/selfbench": ["compiler/support", "compiler/ir", "compiler/runtime", "harness/scenario",
                          "harness/traffic", "harness/record", "harness/executors", "harness/measure",
                          "reports/schema", "reports/stats"],
    "harness/cli": None,  # Joins everything.
    "harness/cli/main": None,
}

EXTERNAL = [
    (re.compile(r"^(ATen|c10|torch|caffe2)/"), "LibTorch",
     ["compiler/torch", "harness/executors/torch", "harness/executors/python"]),
    (re.compile(r"^(Python\.h|pybind11/)"), "Python", ["harness/executors/python"]),
    (re.compile(r"^(cuda|nvrtc|cupti|cublas|cudnn|nvml)"), "CUDA",
     ["compiler/cuda", "harness/executors/cuda", "harness/probes"]),
    (re.compile(r"^(clang|llvm|lld)/"), "LLVM", ["compiler/codegen/clang"]),
]
# Forward declarations cost nothing; a precompiled header is included by no other header.
CPP_ONLY = [(re.compile(r"^nlohmann/(?!json_fwd)"), "nlohmann/json"), (re.compile(r"^CLI/"), "CLI11")]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def layer_of(path: str) -> str | None:
    """The longest layer folder that holds `path`."""
    matches = [name for name in LAYERS if path.startswith(name + "/")]
    return max(matches, key=len, default=None)


def breaches_in(root: pathlib.Path, file: pathlib.Path) -> list[str]:
    name = file.relative_to(root).as_posix()
    layer = layer_of(name)
    if layer is None:
        return [f"{name}:1: this folder has no row in LAYERS of scripts/lint_includes.py"]
    allowed = LAYERS[layer]
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1) or match.group(2)
        other = layer_of(target)
        if other is not None and allowed is not None and other != layer and other not in allowed:
            found.append(f"{name}:{number}: {layer} may not include {other} ({target})")
        for pattern, what, homes in EXTERNAL:
            if pattern.match(target) and layer not in homes and layer_of(target) is None:
                found.append(f"{name}:{number}: {what} headers belong in {', '.join(homes)} alone ({target})")
        for pattern, what in CPP_ONLY:
            if pattern.match(target) and file.suffix == ".h" and not file.stem.endswith("_pch"):
                found.append(f"{name}:{number}: {what} is included in .cpp files alone ({target})")
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files = [f for top in ("compiler", "harness", "reports") for f in sorted((root / top).rglob("*"))
             if f.suffix in (".h", ".cpp", ".cu")]
    if not files:
        print(f"{root}: no source files found", file=sys.stderr)
        return 1
    breaches = [line for file in files for line in breaches_in(root, file)]
    print("\n".join(breaches) if breaches else f"{len(files)} files keep the layering")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
