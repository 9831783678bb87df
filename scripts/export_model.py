#!/usr/bin/env python3
"""Writes a model as a torch.export archive (.pt2) with seeded random weights.

Models (plain torch.nn, eval mode, float32, weights from the seed alone):
  distilbert  6 layers x 768, 12 heads, FFN 3072 GELU, vocabulary 30522, 512 positions
              (the configuration of DistilBERT-base), with a 77-class head (Banking77's intents).
              inputs  input_ids i64[batch, length], attention_mask i64[batch, length]
              outputs last_hidden_state f32[batch, length, hidden], logits f32[batch, classes]
  bert-base   the same with 12 layers, token types (all zero) and a pooler
  mlp         Linear 512->512, GELU, LayerNorm, Linear 512->512, SiLU, Linear 512->64, softmax
              input x f32[batch, 512]
  chain       pointwise and norm chain without a matrix product; input x f32[batch, 1024]

Batch is dynamic in [1, 64] and length in [1, 512]. torch.export treats a size of 0 or 1 in the
example inputs as fixed, so the examples use 2 and above; the ranges in the archive are the ones
given here, and a batch or length of 1 runs.

A file that was written with the same arguments by the same torch is left alone; the arguments are
kept inside the archive as extra file `breakeven.json`.
"""

import argparse
import importlib.metadata
import json
import math
import os
import sys
import tempfile
import zipfile

EXTRA_NAME = "breakeven.json"
# Raised when the same arguments start to give another model.
EXPORTER_VERSION = 1


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=["distilbert", "bert-base", "mlp", "chain"])
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
        default="1x1,1x13,2x7",
        help="BATCHxLENGTH list for --save-io (for mlp and chain the length is ignored)",
    )
    encoder = parser.add_argument_group("encoder size (distilbert and bert-base)")
    encoder.add_argument("--layers", type=int, help="default 6 (distilbert) or 12 (bert-base)")
    encoder.add_argument("--hidden", type=int, default=768)
    encoder.add_argument("--heads", type=int, default=12)
    encoder.add_argument("--ffn", type=int, default=3072)
    encoder.add_argument("--vocab", type=int, default=30522)
    encoder.add_argument("--positions", type=int, default=512)
    encoder.add_argument("--classes", type=int, default=77)
    encoder.add_argument(
        "--attention",
        choices=["sdpa", "eager"],
        default="sdpa",
        help="scaled_dot_product_attention (transformers' default), or matmul and softmax",
    )
    arguments = parser.parse_args()
    if arguments.layers is None:
        arguments.layers = 12 if arguments.model == "bert-base" else 6
    if arguments.hidden % arguments.heads != 0:
        parser.error(f"--hidden {arguments.hidden} is no multiple of --heads {arguments.heads}")
    if min(arguments.layers, arguments.ffn, arguments.vocab, arguments.classes) < 1:
        parser.error("--layers, --ffn, --vocab and --classes must be at least 1")
    if arguments.positions < 4:
        parser.error("--positions must be at least 4")
    return arguments


def recorded_arguments(arguments):
    """What decides the archive's content: compared with the record inside an existing file."""
    record = {
        "exporter": EXPORTER_VERSION,
        "torch": importlib.metadata.version("torch").split("+")[0],
        "model": arguments.model,
        "seed": arguments.seed,
    }
    if arguments.model in ("distilbert", "bert-base"):
        for key in (
            "layers", "hidden", "heads", "ffn", "vocab", "positions", "classes", "attention",
        ):
            record[key] = getattr(arguments, key)
    return record


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


def build_encoder(arguments):
    import torch
    from torch import nn
    from torch.nn import functional

    hidden, heads = arguments.hidden, arguments.heads
    with_token_types = arguments.model == "bert-base"

    class Embeddings(nn.Module):
        def __init__(self):
            super().__init__()
            self.word_embeddings = nn.Embedding(arguments.vocab, hidden, padding_idx=0)
            self.position_embeddings = nn.Embedding(arguments.positions, hidden)
            if with_token_types:
                self.token_type_embeddings = nn.Embedding(2, hidden)
            self.layer_norm = nn.LayerNorm(hidden, eps=1e-12)
            positions = torch.arange(arguments.positions).expand((1, -1))
            self.register_buffer("position_ids", positions, persistent=False)

        def forward(self, input_ids):
            position_ids = self.position_ids[:, : input_ids.shape[1]]
            embeddings = self.word_embeddings(input_ids)
            if with_token_types:
                embeddings = embeddings + self.token_type_embeddings(torch.zeros_like(input_ids))
            embeddings = embeddings + self.position_embeddings(position_ids)
            return self.layer_norm(embeddings)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q_lin = nn.Linear(hidden, hidden)
            self.k_lin = nn.Linear(hidden, hidden)
            self.v_lin = nn.Linear(hidden, hidden)
            self.out_lin = nn.Linear(hidden, hidden)

        def forward(self, states, mask):
            batch, length, _ = states.shape

            def split_heads(projected):
                return projected.view(batch, length, heads, hidden // heads).transpose(1, 2)

            query = split_heads(self.q_lin(states))
            key = split_heads(self.k_lin(states))
            value = split_heads(self.v_lin(states))
            if arguments.attention == "sdpa":
                context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            else:
                scores = torch.matmul(query / math.sqrt(hidden // heads), key.transpose(2, 3))
                context = torch.matmul(torch.softmax(scores + mask, dim=-1), value)
            merged = context.transpose(1, 2).contiguous().view(batch, length, hidden)
            return self.out_lin(merged)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Attention()
            self.sa_layer_norm = nn.LayerNorm(hidden, eps=1e-12)
            self.lin1 = nn.Linear(hidden, arguments.ffn)
            self.lin2 = nn.Linear(arguments.ffn, hidden)
            self.output_layer_norm = nn.LayerNorm(hidden, eps=1e-12)

        def forward(self, states, mask):
            states = self.sa_layer_norm(self.attention(states, mask) + states)
            inner = functional.gelu(self.lin1(states))
            return self.output_layer_norm(self.lin2(inner) + states)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embeddings = Embeddings()
            self.layers = nn.ModuleList(Layer() for _ in range(arguments.layers))
            self.pre_classifier = nn.Linear(hidden, hidden)
            self.classifier = nn.Linear(hidden, arguments.classes)

        def forward(self, input_ids, attention_mask):
            batch, length = input_ids.shape
            keep = attention_mask[:, None, None, :].expand(batch, 1, length, length)
            mask = (1.0 - keep.to(torch.float32)) * torch.finfo(torch.float32).min
            states = self.embeddings(input_ids)
            for layer in self.layers:
                states = layer(states, mask)
            pooled = self.pre_classifier(states[:, 0])
            pooled = torch.tanh(pooled) if with_token_types else torch.relu(pooled)
            return states, self.classifier(pooled)

    model = Encoder()
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.bias, std=0.02)
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, mean=1.0, std=0.02)
            nn.init.normal_(module.bias, std=0.02)
    return model


def build_mlp():
    from torch import nn

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(
                nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.SiLU(),
                nn.Linear(512, 64), nn.Softmax(dim=-1),
            )

        def forward(self, x):
            return self.layers(x)

    return Mlp()


def build_chain():
    import torch
    from torch import nn
    from torch.nn import functional

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.LayerNorm(1024)
            self.second = nn.LayerNorm(1024)
            self.scale = nn.Parameter(torch.randn(1024) * 0.02 + 1.0)

        def forward(self, x):
            y = self.first(functional.silu(x) + x)
            y = self.second(functional.gelu(y * self.scale) + y)
            return torch.softmax(torch.tanh(y) * 4.0, dim=-1)

    return Chain()


def build_model(arguments):
    """The model, its input names, and its dynamic dims by input."""
    import torch

    torch.manual_seed(arguments.seed)
    if arguments.model in ("distilbert", "bert-base"):
        dims = ["batch", "length"]
        inputs = {"input_ids": dims, "attention_mask": dims}
        return build_encoder(arguments).eval(), inputs
    model = build_mlp() if arguments.model == "mlp" else build_chain()
    return model.eval(), {"x": ["batch", None]}


def make_inputs(arguments, batch, length, seed):
    import torch

    generator = torch.Generator().manual_seed(seed)
    if arguments.model in ("distilbert", "bert-base"):
        ids = torch.randint(0, arguments.vocab, (batch, length), generator=generator)
        mask = torch.ones(batch, length, dtype=torch.int64)
        if batch > 1 and length > 2:  # One padded request, so that the mask matters.
            mask[-1, length - length // 3 :] = 0
        return (ids, mask)
    width = 512 if arguments.model == "mlp" else 1024
    return (torch.randn(batch, width, generator=generator),)


def export(arguments, record):
    import torch

    model, inputs = build_model(arguments)
    limits = {"batch": (1, 64), "length": (1, arguments.positions)}
    dims = {name: torch.export.Dim(name, min=lo, max=hi) for name, (lo, hi) in limits.items()}
    dynamic = [
        {axis: dims[name] for axis, name in enumerate(names) if name} for names in inputs.values()
    ]
    example = make_inputs(arguments, 2, min(7, arguments.positions), seed=0)
    with torch.no_grad():
        program = torch.export.export(model, example, dynamic_shapes=tuple(dynamic))
    extra = {EXTRA_NAME: json.dumps({"arguments": record, "dims": inputs}, sort_keys=True)}
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
    model, _ = build_model(arguments)
    tensors = {}
    for case, shape in enumerate(arguments.io_shapes.split(",")):
        batch, length = (int(size) for size in shape.split("x"))
        tensors |= run_case(model, case, make_inputs(arguments, batch, length, seed=100 + case))
    write_tensors(arguments.save_io, tensors, record)


def main():
    arguments = parse_arguments()
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
