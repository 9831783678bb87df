"""mlp: Linear 512->512, GELU, LayerNorm, Linear 512->512, SiLU, Linear 512->64, softmax.
chain: pointwise ops and norms without a matrix product."""

from models.spec import Input, Model


def build_mlp(config):
    from torch import nn

    return nn.Sequential(
        nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.SiLU(),
        nn.Linear(512, 64), nn.Softmax(dim=-1),
    )


def build_chain(config):
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


def model(build, width):
    return Model({}, build, lambda config: {"x": Input(("batch", width))},
                 lambda config: {"batch": (1, 64)})


MODELS = {"mlp": model(build_mlp, 512), "chain": model(build_chain, 1024)}
