"""The model of a scenario: from its archive, or from the user's own Python factory."""

import hashlib
import importlib
import sys
import warnings

import torch

DTYPES = {"bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16,
          "i32": torch.int32, "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16,
          "f32": torch.float32, "f64": torch.float64}


def from_factory(factory, folder, seed):
    """Calls `module:function`; modules beside the scenario are found first."""
    name, _, function = factory.partition(":")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    torch.manual_seed(seed)  # Random weights are the same in every process and arm.
    model = getattr(importlib.import_module(name), function)()
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{factory} returned {type(model).__name__}, no torch.nn.Module")
    return model.eval()


def open_archive(file):
    """The program of a .pt2; that its bytes are read only is how it should be."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given buffer is not writable")
        return torch.export.load(file)


def load(spec):
    if spec["factory"]:
        model = from_factory(spec["factory"], spec["folder"], spec["seed"])
        if spec["file"] and spec["verify"]:
            check_same_weights(model, open_archive(spec["file"]), spec)
        return model
    # The archive's own input guards are left out: the other arms do not check them either.
    return open_archive(spec["file"]).module(check_guards=False)


def check_same_weights(model, program, spec):
    ours, theirs = model.state_dict(), program.state_dict
    for name in sorted(set(ours) | set(theirs)):
        if name not in ours or name not in theirs:
            where = spec["file"] if name not in ours else spec["factory"]
            raise ValueError(f"only {where} has the weight {name}: factory and archive differ")
        if ours[name].dtype != theirs[name].dtype or not torch.equal(ours[name], theirs[name]):
            raise ValueError(f"the weight {name} of {spec['factory']} is not that of {spec['file']}")


def checksum(model):
    """53 bits over names, types and bytes of all weights."""
    digest = hashlib.blake2b(digest_size=8)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        if flat.numel():
            digest.update(memoryview(flat.view(torch.uint8).numpy()))
    return int.from_bytes(digest.digest(), "little") >> 11


def example_inputs(spec):
    """Inputs of sizes that torch.export does not take for fixed, within the scenario's ranges."""
    sizes = {dim["name"]: min(dim["max"], max(dim["min"], 3 + index))
             for index, dim in enumerate(spec["dims"])}
    inputs = []
    for given in spec["inputs"]:
        shape = [sizes[size] if size in sizes else int(size) for size in given["sizes"]]
        dtype = DTYPES[given["dtype"]]
        low, high = given["fill_min"], given["fill_max"]
        if dtype.is_floating_point:
            inputs.append((torch.rand(shape) * (high - low) + low).to(dtype))
        elif dtype is torch.bool:
            inputs.append(torch.ones(shape, dtype=dtype))
        else:
            inputs.append(torch.randint(int(low), int(high) + 1, shape, dtype=dtype))
    return tuple(inputs)


def capture(model, spec):
    """torch.export of a factory's model with the scenario's dims; raises what torch.export raises."""
    dims = {dim["name"]: torch.export.Dim(dim["name"], min=dim["min"], max=dim["max"])
            for dim in spec["dims"] if dim["min"] < dim["max"]}
    dynamic = tuple({axis: dims[size] for axis, size in enumerate(given["sizes"]) if size in dims}
                    for given in spec["inputs"])
    with torch.no_grad():
        return torch.export.export(model, example_inputs(spec), dynamic_shapes=dynamic)


def exported(model, spec):
    """The scenario's program: the archive itself, or the factory's model captured."""
    if spec["file"]:
        return open_archive(spec["file"])
    try:
        return capture(model, spec)
    except Exception as error:
        raise RuntimeError(f"capture failed: torch.export refuses the model: {error}") from error
