"""What a model family tells the exporter, and weights that are seeded and plausible."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Input:
    """A request's tensor: dims are names of dynamic dims or sizes.

    kind: "normal" f32 values, "ids" i64 in [0, high), "mask" i64 of ones whose last row ends in zeros.
    """

    dims: tuple
    kind: str = "normal"
    high: int = 0


@dataclasses.dataclass(frozen=True)
class Model:
    """One name of `export_model.py`. `config` holds its options with their defaults; the functions get
    the chosen ones as attributes. `limits` maps each dynamic dim to its (smallest, largest) size."""

    config: dict
    build: typing.Callable
    inputs: typing.Callable
    limits: typing.Callable
    choices: dict = dataclasses.field(default_factory=dict)


def check_heads(config):
    if config.hidden % config.heads != 0:
        raise ValueError(f"--hidden {config.hidden} is no multiple of --heads {config.heads}")


def seed_weights(model, std=0.02):
    """Small normal weights; norms near the identity, with statistics that a trained model might have."""
    from torch import nn

    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=std)
        if isinstance(module, (nn.Conv1d, nn.Conv2d)):
            nn.init.kaiming_normal_(module.weight)
        if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d)) and module.bias is not None:
            nn.init.normal_(module.bias, std=std)
        if isinstance(module, (nn.LayerNorm, nn.GroupNorm, nn.BatchNorm2d)):
            nn.init.normal_(module.weight, mean=1.0, std=std)
            nn.init.normal_(module.bias, std=std)
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(std=0.1)
            module.running_var.uniform_(0.5, 1.5)
    return model


def sample(inputs, sizes, seed):
    """One request of the given sizes (dim name -> size), the same for the same seed."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    values = []
    for one in inputs.values():
        shape = [sizes[dim] if isinstance(dim, str) else dim for dim in one.dims]
        if one.kind == "ids":
            values.append(torch.randint(0, one.high, shape, generator=generator))
        elif one.kind == "mask":
            mask = torch.ones(shape, dtype=torch.int64)
            if shape[0] > 1 and shape[1] > 2:  # One padded request, so that the mask matters.
                mask[-1, shape[1] - shape[1] // 3 :] = 0
            values.append(mask)
        else:
            values.append(torch.randn(shape, generator=generator))
    return tuple(values)
