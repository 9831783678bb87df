#!/usr/bin/env python3
"""Writes a model as a torch.export archive (.pt2) with seeded random weights.

The models are those of scripts/models, plain torch.nn in eval mode and float32, by their real
configurations; `export_model.py MODEL --help` says what can be made smaller.

torch.export treats a size of 0 or 1 in the example inputs as fixed, so the examples use 2 and above;
the ranges in the archive are the model's own, and a batch or length of 1 runs.

A file that was written with the same arguments by the same torch is left alone; the arguments are
kept inside the archive as extra file `breakeven.json`.
"""

import argparse
import importlib.metadata
import json
import os
import sys
import tempfile
import zipfile

from models import MODELS
from models.spec import sample

EXTRA_NAME = "breakeven.json"
# Raised when the same arguments start to give another model.
EXPORTER_VERSION = 2
# What example inputs have in each dynamic dim: different sizes, so that no two dims are taken for one.
EXAMPLE_SIZES = (2, 7, 5)


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    models = parser.add_subparsers(dest="model", required=True, metavar="MODEL",
                                   help=", ".join(MODELS))
    for name, model in MODELS.items():
        one = models.add_parser(name, description=sys.modules[model.inputs.__module__].__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
        add_common(one)
        sizes = one.add_argument_group("the model's configuration")
        for key, value in model.config.items():
            sizes.add_argument("--" + key.replace("_", "-"), type=type(value), default=value,
                               choices=model.choices.get(key), help=f"default {value}")
    arguments = parser.parse_args(words)
    for key in MODELS[arguments.model].config:
        value = getattr(arguments, key)
        if isinstance(value, int) and value < 1:
            parser.error(f"--{key.replace('_', '-')} must be at least 1, not {value}")
    return arguments


def add_common(parser):
    parser.add_argument("-o", "--out", required=True, help="archive to write (.pt2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the weights (default 1)")
    parser.add_argument("--force", action="store_true", help="write even when up to date")
    parser.add_argument(
        "--save-io",
        metavar="FILE",
        help="also run the model in PyTorch eager and save inputs and outputs (safetensors)",
    )
    parser.add_argument(
        "--io-shapes",
        default="2",
        metavar="LIST",
        help="requests for --save-io: sizes of the model's dynamic dims, such as 1x13,2x7 for batch "
        "and length; a dim that is left out has the size of the last one given (default 2)",
    )


def recorded_arguments(arguments):
    """What decides the archive's content: compared with the record inside an existing file."""
    record = {
        "exporter": EXPORTER_VERSION,
        "torch": importlib.metadata.version("torch").split("+")[0],
        "model": arguments.model,
        "seed": arguments.seed,
    }
    return record | {key: getattr(arguments, key) for key in MODELS[arguments.model].config}


def is_current(path, record):
    """True when `path` is a whole archive that was written for the same record."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith("/extra/" + EXTRA_NAME):
                    return json.loads(archive.read(name))["arguments"] == record
    except (OSError, zipfile.BadZipFile, ValueError, KeyError):
        pass
    return False


def build_model(arguments):
    """The model and its inputs by name."""
    import torch

    torch.manual_seed(arguments.seed)
    model = MODELS[arguments.model]
    try:
        return model.build(arguments).eval(), model.inputs(arguments)
    except ValueError as error:
        sys.exit(f"export_model.py: {error}")


def dim_limits(arguments):
    return MODELS[arguments.model].limits(arguments)


def parse_sizes(arguments, text):
    """"2x7" -> {"batch": 2, "length": 7}."""
    names = list(dim_limits(arguments))
    try:
        sizes = [int(size) for size in text.split("x")]
    except ValueError:
        sizes = []
    if not sizes or len(sizes) > len(names) or min(sizes) < 0:
        sys.exit(f"export_model.py: --io-shapes {text!r}: wanted at most {len(names)} sizes "
                 f"({'x'.join(names)})")
    sizes += [sizes[-1]] * (len(names) - len(sizes))
    return dict(zip(names, sizes))


def export(arguments, record):
    import torch

    model, inputs = build_model(arguments)
    limits = dim_limits(arguments)
    dims = {name: torch.export.Dim(name, min=lo, max=hi) for name, (lo, hi) in limits.items()}
    dynamic = [
        {axis: dims[dim] for axis, dim in enumerate(one.dims) if isinstance(dim, str)}
        for one in inputs.values()
    ]
    sizes = {name: min(size, hi) for size, (name, (_, hi)) in zip(EXAMPLE_SIZES, limits.items())}
    with torch.no_grad():
        program = torch.export.export(model, sample(inputs, sizes, seed=0),
                                      dynamic_shapes=tuple(dynamic))
    names = {name: [dim if isinstance(dim, str) else None for dim in one.dims]
             for name, one in inputs.items()}
    extra = {EXTRA_NAME: json.dumps({"arguments": record, "dims": names}, sort_keys=True)}
    folder = os.path.dirname(os.path.abspath(arguments.out))
    os.makedirs(folder, exist_ok=True)
    # The archive's root folder takes the file's name, so the temporary one lies in a folder of its own.
    with tempfile.TemporaryDirectory(prefix=".export-", dir=folder) as work:
        temporary = os.path.join(work, os.path.basename(arguments.out))
        torch.export.save(program, temporary, extra_files=extra)
        os.replace(temporary, arguments.out)


def write_tensors(path, tensors, record):
    """Writes torch tensors as a safetensors file whose metadata holds the record as JSON."""
    import torch

    names = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}
    header, offset = {"__metadata__": {"record": json.dumps(record, sort_keys=True)}}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    temporary = path + ".partial"
    with open(temporary, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            out.write(tensor.contiguous().numpy().tobytes())
    os.replace(temporary, path)


def are_tensors_current(path, record):
    """True when `path` was written by write_tensors for the same record."""
    try:
        with open(path, "rb") as source:
            header = json.loads(source.read(int.from_bytes(source.read(8), "little")))
            return json.loads(header["__metadata__"]["record"]) == record
    except (OSError, ValueError, KeyError, MemoryError):
        return False


def run_case(model, case, values):
    """Named inputs and PyTorch eager outputs of one request."""
    import torch

    with torch.inference_mode():
        results = model(*values)
    if isinstance(results, torch.Tensor):
        results = (results,)
    tensors = {}
    for kind, group in (("input", values), ("output", results)):
        for index, tensor in enumerate(group):
            tensors[f"case{case}.{kind}{index}"] = tensor
    return tensors


def save_io(arguments, record):
    """Inputs and PyTorch eager outputs of a few shapes, as one safetensors file."""
    record = dict(record, shapes=arguments.io_shapes)
    if not arguments.force and are_tensors_current(arguments.save_io, record):
        print(f"{arguments.save_io}: up to date", file=sys.stderr)
        return
    model, inputs = build_model(arguments)
    tensors = {}
    for case, shape in enumerate(arguments.io_shapes.split(",")):
        values = sample(inputs, parse_sizes(arguments, shape), seed=100 + case)
        tensors |= run_case(model, case, values)
    write_tensors(arguments.save_io, tensors, record)


def main(words=None):
    arguments = parse_arguments(words)
    record = recorded_arguments(arguments)
    if not arguments.force and is_current(arguments.out, record):
        print(f"{arguments.out}: up to date", file=sys.stderr)
    else:
        try:
            export(arguments, record)
        except OSError as error:
            sys.exit(f"{arguments.out}: cannot write: {error.strerror}. Free space or choose another --out.")
        size = os.path.getsize(arguments.out) / 1e6
        print(f"{arguments.out}: {arguments.model} written, {size:.1f} MB", file=sys.stderr)
    if arguments.save_io:
        save_io(arguments, record)


if __name__ == "__main__":
    main()
