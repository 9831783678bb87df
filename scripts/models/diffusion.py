"""sd-unet-block: the first level of Stable Diffusion 1.x's U-Net: a residual block with the time embedding
and a transformer over the latent's pixels with cross-attention to 77 text tokens; output like hidden_states."""

from models.spec import Input, Model, seed_weights


def build_unet_block(config):
    import torch
    from torch import nn
    from torch.nn import functional

    width, heads = config.width, config.heads
    if width % heads or width % 32:
        raise ValueError(f"--width {width} is no multiple of 32 and of --heads {heads}")

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.GroupNorm(32, width), nn.GroupNorm(32, width)
            self.conv1 = nn.Conv2d(width, width, 3, padding=1)
            self.conv2 = nn.Conv2d(width, width, 3, padding=1)
            self.time = nn.Linear(1280, width)

        def forward(self, x, time_embedding):
            y = self.conv1(functional.silu(self.norm1(x)))
            y = y + self.time(functional.silu(time_embedding))[:, :, None, None]
            return x + self.conv2(functional.silu(self.norm2(y)))

    class Attention(nn.Module):
        def __init__(self, context_width):
            super().__init__()
            self.to_q = nn.Linear(width, width, bias=False)
            self.to_k = nn.Linear(context_width, width, bias=False)
            self.to_v = nn.Linear(context_width, width, bias=False)
            self.to_out = nn.Linear(width, width)

        def forward(self, x, context):
            def split_heads(projected):
                return projected.unflatten(2, (heads, width // heads)).transpose(1, 2)

            mixed = functional.scaled_dot_product_attention(
                split_heads(self.to_q(x)), split_heads(self.to_k(context)),
                split_heads(self.to_v(context)))
            return self.to_out(mixed.transpose(1, 2).flatten(2))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.GroupNorm(32, width, eps=1e-6)
            self.proj_in, self.proj_out = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
            self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
            self.self_attention, self.cross_attention = Attention(width), Attention(768)
            self.expand = nn.Linear(width, 8 * width)
            self.contract = nn.Linear(4 * width, width)

        def forward(self, image, context):
            x = self.proj_in(self.norm(image)).flatten(2).transpose(1, 2)
            normed = self.norm1(x)
            x = x + self.self_attention(normed, normed)
            x = x + self.cross_attention(self.norm2(x), context)
            value, gate = self.expand(self.norm3(x)).chunk(2, dim=-1)
            x = x + self.contract(value * functional.gelu(gate))
            return image + self.proj_out(x.transpose(1, 2).reshape(image.shape))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.residual, self.transformer = Residual(), Transformer()

        def forward(self, hidden_states, time_embedding, context):
            return self.transformer(self.residual(hidden_states, time_embedding), context)

    return seed_weights(Block())


MODELS = {
    "sd-unet-block": Model(
        {"width": 320, "heads": 8, "latent": 64}, build_unet_block,
        lambda config: {
            "hidden_states": Input(("batch", config.width, config.latent, config.latent)),
            "time_embedding": Input(("batch", 1280)),
            "context": Input(("batch", 77, 768)),
        },
        lambda config: {"batch": (1, 8)}),
}
