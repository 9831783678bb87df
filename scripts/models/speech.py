"""whisper-tiny-encoder: 30 seconds of log-mel frames, input_features f32[batch, 80, 3000], to
f32[batch, 1500, 384]."""

from models.spec import Input, Model, check_heads, seed_weights


def build_whisper(config):
    import torch
    from torch import nn
    from torch.nn import functional

    check_heads(config)
    hidden, heads = config.hidden, config.heads

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm, self.ffn_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
            self.q_proj = nn.Linear(hidden, hidden)
            self.k_proj = nn.Linear(hidden, hidden, bias=False)
            self.v_proj = nn.Linear(hidden, hidden)
            self.out_proj = nn.Linear(hidden, hidden)
            self.fc1 = nn.Linear(hidden, config.ffn)
            self.fc2 = nn.Linear(config.ffn, hidden)

        def forward(self, x):
            batch, frames, _ = x.shape
            y = self.attention_norm(x)

            def split_heads(projected):
                return projected.view(batch, frames, heads, hidden // heads).transpose(1, 2)

            context = functional.scaled_dot_product_attention(
                split_heads(self.q_proj(y)), split_heads(self.k_proj(y)),
                split_heads(self.v_proj(y)))
            x = x + self.out_proj(context.transpose(1, 2).reshape(batch, frames, hidden))
            return x + self.fc2(functional.gelu(self.fc1(self.ffn_norm(x))))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv1d(80, hidden, 3, padding=1)
            self.conv2 = nn.Conv1d(hidden, hidden, 3, stride=2, padding=1)
            self.positions = nn.Parameter(0.02 * torch.randn(config.frames // 2, hidden))
            self.layers = nn.ModuleList(Layer() for _ in range(config.layers))
            self.norm = nn.LayerNorm(hidden)

        def forward(self, input_features):
            x = functional.gelu(self.conv1(input_features))
            x = functional.gelu(self.conv2(x)).permute(0, 2, 1) + self.positions
            for layer in self.layers:
                x = layer(x)
            return self.norm(x)

    return seed_weights(Encoder())


MODELS = {
    "whisper-tiny-encoder": Model(
        {"layers": 4, "hidden": 384, "heads": 6, "ffn": 1536, "frames": 3000}, build_whisper,
        lambda config: {"input_features": Input(("batch", 80, config.frames))},
        lambda config: {"batch": (1, 16)}),
}
