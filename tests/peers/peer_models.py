"""Small models for the tests of PyTorch's own arms; each function makes one."""

import os
import signal
import time

import torch
import torch._dynamo
from torch import nn


def fresh():
    """Forgets what an earlier model in this process taught Dynamo; default limits."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 8
    torch._dynamo.config.automatic_dynamic_shapes = True


class Tiny(nn.Module):
    """One matrix product and something to fuse."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return torch.tanh(self.linear(x)) * 2


def tiny():
    fresh()
    torch.manual_seed(7)
    return Tiny()


def other_weights():
    fresh()
    torch.manual_seed(8)
    return Tiny()


def unseeded():
    """Other weights in every process."""
    fresh()
    torch.manual_seed(time.time_ns() % 2**31)
    return Tiny()


class Pointwise(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


def pointwise():
    fresh()
    return Pointwise()


def limited():
    """Every shape is a program of its own, and there may be two."""
    fresh()
    torch._dynamo.config.recompile_limit = 2
    torch._dynamo.config.automatic_dynamic_shapes = False
    return Pointwise()


class Unused(nn.Module):
    def forward(self, x, unused):
        return torch.relu(x) + 1


def unused():
    fresh()
    return Unused()


class Branch(nn.Module):
    """One break: the branch."""

    def forward(self, x):
        y = x + 1
        if y.sum() > 0:
            y = y * 2
        else:
            y = y - 1
        return torch.relu(y)


class Loop(nn.Module):
    """A break for each turn of the loop."""

    def forward(self, x):
        y = x * 2
        while y.mean() < 20:
            y = y * 3
        return y - 1


class Count(nn.Module):
    """The number of rows that are kept depends on the data."""

    def forward(self, x):
        kept = x[x[:, 0] > 0]
        return torch.sin(kept) + 1


class Early(nn.Module):
    """Returns before its second half."""

    def forward(self, x):
        y = torch.sin(x)
        if y.max() < -2:
            return y
        z = torch.cos(y)
        if z.max() < -2:
            return z
        return z * y


class Item(nn.Module):
    """A Python number taken out of a tensor picks the work."""

    def forward(self, x):
        times = int(x.sum().item()) % 3 + 1
        y = x
        for _ in range(times):
            y = y + x
        return torch.tanh(y)


def branch():
    fresh()
    return Branch()


def loop():
    fresh()
    return Loop()


def count():
    fresh()
    return Count()


def early():
    fresh()
    return Early()


def item():
    fresh()
    return Item()


class Identity(nn.Module):
    def forward(self, x):
        return x


def nothing_to_compile():
    """No op at all, so Dynamo captures no graph and raises nothing."""
    fresh()
    return Identity()


class Conditions(nn.Module):
    """Raises unless it is served as every arm is."""

    def forward(self, x):
        if not torch.is_inference_mode_enabled():
            raise AssertionError("inference mode is off")
        if x.dtype is not torch.float32:
            raise AssertionError(f"the input came as {x.dtype}")
        if self.training:
            raise AssertionError("the model is in training mode")
        return x + torch.get_num_threads()


def conditions():
    fresh()
    return Conditions()


class Raises(Tiny):
    def forward(self, x):
        raise ValueError("no answer for this request")


class Crashes(Tiny):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGSEGV)
        return super().forward(x)


class Hangs(Tiny):
    def forward(self, x):
        while True:
            time.sleep(1)


def with_weights_of_tiny(kind):
    fresh()
    torch.manual_seed(7)
    return kind()


def raises():
    return with_weights_of_tiny(Raises)


def crashes():
    return with_weights_of_tiny(Crashes)


def hangs():
    return with_weights_of_tiny(Hangs)


@torch.library.custom_op("breakeven_tests::picky", mutates_args=())
def picky(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@picky.register_fake
def _(x):
    if x.shape[0] == 3:
        raise RuntimeError("no code for three rows")
    return torch.empty_like(x)


class Picky(nn.Module):
    """Runs eagerly on every shape; its op does not compile for three rows."""

    def forward(self, x):
        return torch.ops.breakeven_tests.picky(x) * 2


def picky_model():
    fresh()
    torch._dynamo.config.automatic_dynamic_shapes = False
    return Picky()
