"""dlrm: Criteo Terabyte's configuration with its tables cut to `rows` rows; dense f32[batch, 13] and one id
a table, sparse_ids i64[batch, 26], to a click probability f32[batch, 1]."""

from models.spec import Input, Model, seed_weights


def build_dlrm(config):
    import torch
    from torch import nn

    def tower(*sizes):
        layers = []
        for size_in, size_out in zip(sizes, sizes[1:]):
            layers += [nn.Linear(size_in, size_out), nn.ReLU()]
        return layers

    class Dlrm(nn.Module):
        def __init__(self):
            super().__init__()
            vectors = config.tables + 1
            self.tables = nn.ModuleList(
                nn.Embedding(config.rows, config.hidden) for _ in range(config.tables))
            self.bottom = nn.Sequential(*tower(13, 512, 256, config.hidden))
            top = tower(config.hidden + vectors * (vectors - 1) // 2, 512, 512, 256, 1)
            self.top = nn.Sequential(*top[:-1], nn.Sigmoid())
            lower = torch.tril_indices(vectors, vectors, offset=-1)
            self.register_buffer("pairs", lower[0] * vectors + lower[1], persistent=False)

        def forward(self, dense, sparse_ids):
            bottom = self.bottom(dense)
            looked_up = [table(sparse_ids[:, i]) for i, table in enumerate(self.tables)]
            vectors = torch.stack([bottom, *looked_up], dim=1)
            dots = torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1)
            return self.top(torch.cat((bottom, dots.index_select(1, self.pairs)), dim=1))

    return seed_weights(Dlrm(), std=0.05)


MODELS = {
    "dlrm": Model(
        {"tables": 26, "rows": 50000, "hidden": 64}, build_dlrm,
        lambda config: {"dense": Input(("batch", 13)),
                        "sparse_ids": Input(("batch", config.tables), "ids", config.rows)},
        lambda config: {"batch": (1, 1024)}),
}
