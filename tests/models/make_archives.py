#!/usr/bin/env python3
"""Writes the archives that the model tests read into a folder; leaves alone what is up to date.

Three sorts: small versions of the exporter's models with their PyTorch eager outputs; one module a
feature of the importer (tied weights, in-place ops, lists with gaps, ...), with outputs too; and
archives with one fault each, made by rewriting records of a good one.
"""

import glob
import json
import os
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "scripts")
sys.path.insert(0, SCRIPTS)
import export_model  # noqa: E402

ENCODER = ["--layers", "2", "--hidden", "32", "--heads", "2", "--ffn", "64"]
TEXT = [*ENCODER, "--vocab", "100", "--positions", "64"]
BLOCK = ["--hidden", "64", "--heads", "4", "--kv-heads", "2", "--head-size", "16", "--ffn", "96",
         "--positions", "64"]
# Name -> the exporter's words; --io-shapes are the requests that the tests compare.
MODELS = {
    "small": ["distilbert", *TEXT, "--io-shapes", "1x1,1x13,2x7,3x64"],
    "small_eager": ["distilbert", *TEXT, "--attention", "eager", "--io-shapes", "1x1,1x13,2x7"],
    "small_bert": ["bert-base", *TEXT, "--io-shapes", "1x5,2x7"],
    "small_t5": ["t5-small-encoder", *ENCODER, "--head-size", "16", "--vocab", "100",
                 "--io-shapes", "1x1,1x13,2x40"],
    "small_gpt2_prefill": ["gpt2-prefill", *TEXT, "--io-shapes", "1x1,1x13,2x7"],
    "small_gpt2_decode": ["gpt2-decode", *TEXT, "--io-shapes", "1x1,1x13,3x7"],
    "small_llama": ["llama-3.2-1b-block", *BLOCK, "--io-shapes", "1x1x13,1x7x1,2x5x7"],
    "small_qwen": ["qwen2.5-0.5b-block", *BLOCK, "--io-shapes", "1x1x13,1x7x1,2x5x7"],
    "small_vit": ["vit-b16", *ENCODER, "--patch", "8", "--image", "32", "--io-shapes", "1,3"],
    "small_resnet": ["resnet50", "--blocks", "1-2-1-1", "--width", "8", "--image", "64",
                     "--io-shapes", "1,3"],
    "small_mobilenet": ["mobilenetv3-large", "--image", "64", "--io-shapes", "1,3"],
    "small_dlrm": ["dlrm", "--tables", "5", "--rows", "100", "--hidden", "16",
                   "--io-shapes", "1,7,33"],
    "small_whisper": ["whisper-tiny-encoder", *ENCODER, "--frames", "64", "--io-shapes", "1,3"],
    "small_unet": ["sd-unet-block", "--width", "64", "--heads", "2", "--latent", "8",
                   "--io-shapes", "1,3"],
    "mlp": ["mlp", "--io-shapes", "1,7"],
    "chain": ["chain", "--io-shapes", "1,5"],
}


def export_models(folder):
    for name, words in MODELS.items():
        base = os.path.join(folder, name)
        export_model.main([*words, "-o", base + ".pt2", "--save-io", base + ".safetensors"])
    distilbert = os.path.join(ROOT, "scenarios", "models", "distilbert.pt2")
    export_model.main(["distilbert", "-o", distilbert, "--io-shapes", "1x1,1x13,2x7",
                       "--save-io", os.path.join(folder, "distilbert.safetensors")])


def feature_modules():
    """Name -> (module, two requests of different batch, dynamic dims of each input)."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Tied(nn.Module):
        """One table read as an embedding and as the output projection."""

        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 8)
            self.head = nn.Linear(8, 50, bias=False)
            self.head.weight = self.table.weight

        def forward(self, ids):
            return self.head(self.table(ids))

    class InPlace(nn.Module):
        """BatchNorm in inference and an in-place activation."""

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.norm = nn.BatchNorm2d(4)
            self.norm.running_mean.normal_()
            self.norm.running_var.uniform_(0.5, 2.0)

        def forward(self, x):
            y = functional.relu_(self.norm(self.conv(x)))
            y.add_(1.0)
            return y.mean((2, 3))

    class Lists(nn.Module):
        """Lists of optional tensors, several outputs, a lifted constant, symbolic arithmetic."""

        def forward(self, x):
            picked = x[:, torch.tensor([2, 0])]
            first, second = torch.split(x, [1, 3], dim=1)
            values, places = torch.topk(x, 2, dim=1)
            padded = functional.pad(x, (0, 1)).reshape(x.shape[0] * 5)
            scaled = x * x.shape[0]
            return picked, first + second.sum(1, keepdim=True), values, places, padded, scaled

    class Types(nn.Module):
        """Dtype, layout and memory format arguments, scalars of each kind."""

        def forward(self, x):
            full = torch.full((x.shape[0], 4), 2, dtype=torch.int64)
            mask = torch.where(x > 0, torch.ones_like(x, dtype=torch.float32), -1.5)
            copied = x.t().contiguous().clone(memory_format=torch.contiguous_format)
            return full + 1, mask * True, copied, torch.arange(x.shape[0]).to(torch.float32)

    class Strided(nn.Module):
        """A weight that is stored transposed."""

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6, 4).t())

        def forward(self, x):
            return x @ self.weight

    def rows(*sizes):
        return [(torch.randn(sizes[0], *sizes[1:]),), (torch.randn(sizes[0] + 2, *sizes[1:]),)]

    ids = [(torch.randint(0, 50, (2, 3)),), (torch.randint(0, 50, (4, 3)),)]
    return {
        "tied": (Tied(), ids),
        "in_place": (InPlace(), rows(2, 3, 8, 8)),
        "lists": (Lists(), rows(3, 4)),
        "types": (Types(), rows(3, 4)),
        "strided": (Strided(), rows(3, 4)),
    }


def refused_modules():
    """Name -> (module, example): models that export but that the importer refuses."""
    import torch
    from torch import nn

    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.calls.add_(1.0)
            return x + self.calls

    class ViewWrite(nn.Module):
        def forward(self, x):
            y = x * 2
            y[:, 0].add_(1.0)
            return y

    class Branch(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))

    class DataDependent(nn.Module):
        def forward(self, x):
            return torch.nonzero(x)

    example = (torch.randn(3, 4),)
    return {
        "mutation": (Counter(), example),
        "view_write": (ViewWrite(), example),
        "branch": (Branch(), example),
        "data_dependent": (DataDependent(), example),
    }


def export_modules(folder):
    import torch

    torch.manual_seed(1)
    batch = torch.export.Dim("batch", min=1, max=64)
    for name, (module, requests) in feature_modules().items():
        module.eval()
        program = torch.export.export(module, requests[0], dynamic_shapes=({0: batch},))
        torch.export.save(program, os.path.join(folder, name + ".pt2"))
        tensors = {}
        for case, values in enumerate(requests):
            tensors |= export_model.run_case(module, case, values)
        export_model.write_tensors(os.path.join(folder, name + ".safetensors"), tensors, {})
    for name, (module, example) in refused_modules().items():
        torch.export.save(torch.export.export(module.eval(), example),
                          os.path.join(folder, name + ".pt2"))


def rewrite(source, target, edit, drop=()):
    """Copies an archive, its model JSON changed by `edit`, without the records in `drop`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for record in old.infolist():
            short = record.filename.split("/", 1)[1]
            if short in drop:
                continue
            content = old.read(record)
            if short == "models/model.json":
                program = json.loads(content)
                edit(program)
                content = json.dumps(program).encode()
            new.writestr(zipfile.ZipInfo(record.filename), content)


def nodes(program):
    return program["graph_module"]["graph"]["nodes"]


def make_faults(folder):
    small = os.path.join(folder, "small.pt2")

    def newer(program):
        program["schema_version"]["major"] = 9

    def foreign(program):
        nodes(program)[-1]["target"] = "torch.ops.torchvision.nms.default"

    def unknown(program):
        nodes(program)[-1]["target"] = "torch.ops.aten.no_such_op.default"

    def dangling(program):
        nodes(program)[-1]["inputs"][0]["arg"] = {"as_tensor": {"name": "nowhere"}}

    def wrong_type(program):
        values = program["graph_module"]["graph"]["tensor_values"]
        values[nodes(program)[-1]["outputs"][0]["as_tensor"]["name"]]["dtype"] = 5

    def on_cuda(program):
        for meta in program["graph_module"]["graph"]["tensor_values"].values():
            meta["device"] = {"type": "cuda", "index": 0}

    faults = {
        "newer_schema": newer, "foreign_op": foreign, "unknown_op": unknown, "dangling": dangling,
        "wrong_type": wrong_type, "on_cuda": on_cuda,
    }
    for name, edit in faults.items():
        rewrite(small, os.path.join(folder, name + ".pt2"), edit)
    rewrite(small, os.path.join(folder, "no_model.pt2"), lambda program: None,
            drop=("models/model.json",))
    rewrite(small, os.path.join(folder, "no_weight.pt2"), lambda program: None,
            drop=("data/weights/weight_3",))
    with open(small, "rb") as whole, open(os.path.join(folder, "truncated.pt2"), "wb") as part:
        part.write(whole.read()[:-2000])
    with open(os.path.join(folder, "no_zip.pt2"), "wb") as out:
        out.write(b"this is no archive\n" * 10)
    open(os.path.join(folder, "empty.pt2"), "wb").close()


def save_weights(folder):
    """Every stored tensor of the small encoder, as PyTorch reads it back."""
    import torch

    program = torch.export.load(os.path.join(folder, "small.pt2"))
    tensors = dict(program.state_dict) | dict(program.constants)
    tensors = {name: tensor.detach() for name, tensor in tensors.items()}
    export_model.write_tensors(os.path.join(folder, "small.weights.safetensors"), tensors, {})


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_archives.py FOLDER")
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    export_models(folder)
    stamp = os.path.join(folder, "modules.stamp")
    sources = [__file__, os.path.join(SCRIPTS, "export_model.py"),
               *glob.glob(os.path.join(SCRIPTS, "models", "*.py"))]
    newest = max(os.path.getmtime(source) for source in sources)
    if not os.path.exists(stamp) or os.path.getmtime(stamp) < newest:
        export_modules(folder)
        make_faults(folder)
        save_weights(folder)
        open(stamp, "w").close()


if __name__ == "__main__":
    main()
