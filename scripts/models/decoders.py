"""gpt2-prefill: a prompt; outputs the last token's logits f32[batch, vocab], keys and values
f32[layers, batch, heads, length, head].
gpt2-decode: one token after `past` cached ones; outputs its logits, and its own keys and values.
llama-3.2-1b-block, qwen2.5-0.5b-block: one layer with grouped heads, rotary positions and a cache of
`past` tokens; outputs f32[batch, length, hidden], keys and values f32[batch, kv_heads, past + length, head]."""

from models.spec import Input, Model, check_heads, seed_weights


def build_gpt2(config, with_past):
    import torch
    from torch import nn
    from torch.nn import functional

    check_heads(config)
    hidden, heads = config.hidden, config.heads
    head = hidden // heads

    class Projection(nn.Module):
        """A linear layer whose weight lies as [in, out], as GPT-2's do."""

        def __init__(self, size_in, size_out):
            super().__init__()
            self.weight = nn.Parameter(0.02 * torch.randn(size_in, size_out))
            self.bias = nn.Parameter(0.02 * torch.randn(size_out))

        def forward(self, x):
            flat = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
            return flat.view(*x.shape[:-1], flat.shape[-1])

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1 = nn.LayerNorm(hidden)
            self.c_attn = Projection(hidden, 3 * hidden)
            self.c_proj = Projection(hidden, hidden)
            self.ln_2 = nn.LayerNorm(hidden)
            self.c_fc = Projection(hidden, config.ffn)
            self.c_out = Projection(config.ffn, hidden)

        def forward(self, x, past):
            batch, length, _ = x.shape
            parts = self.c_attn(self.ln_1(x)).split(hidden, dim=2)
            query, key, value = (p.view(batch, length, heads, head).transpose(1, 2) for p in parts)
            if past is None:
                context = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            else:
                context = functional.scaled_dot_product_attention(
                    query, torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2))
            context = context.transpose(1, 2).reshape(batch, length, hidden)
            x = x + self.c_proj(context)
            inner = functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
            return x + self.c_out(inner), key, value

    class Gpt2(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(config.vocab, hidden)
            self.wpe = nn.Embedding(config.positions, hidden)
            self.blocks = nn.ModuleList(Block() for _ in range(config.layers))
            self.ln_f = nn.LayerNorm(hidden)

        def run(self, input_ids, start, past):
            places = torch.arange(start, start + input_ids.shape[1])
            states = self.wte(input_ids) + self.wpe(places)
            keys, values = [], []
            for index, block in enumerate(self.blocks):
                layer_past = None if past is None else (past[0][index], past[1][index])
                states, key, value = block(states, layer_past)
                keys.append(key)
                values.append(value)
            logits = functional.linear(self.ln_f(states[:, -1]), self.wte.weight)
            return logits, torch.stack(keys), torch.stack(values)

    class Prefill(Gpt2):
        def forward(self, input_ids):
            return self.run(input_ids, 0, None)

    class Decode(Gpt2):
        def forward(self, input_ids, past_keys, past_values):
            return self.run(input_ids, past_keys.shape[3], (past_keys, past_values))

    return seed_weights(Decode() if with_past else Prefill())


def gpt2_inputs(config, with_past):
    length = 1 if with_past else "length"
    inputs = {"input_ids": Input(("batch", length), "ids", config.vocab)}
    if with_past:
        dims = (config.layers, "batch", config.heads, "past", config.hidden // config.heads)
        inputs |= {"past_keys": Input(dims), "past_values": Input(dims)}
    return inputs


def gpt2(with_past):
    config = {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 50257,
              "positions": 1024}
    varying = "past" if with_past else "length"
    return Model(config, lambda chosen: build_gpt2(chosen, with_past),
                 lambda chosen: gpt2_inputs(chosen, with_past),
                 lambda chosen: {"batch": (1, 64), varying: (1, chosen.positions - 1)})


def build_llama(config, rope_theta, qkv_bias, norm_eps):
    import torch
    from torch import nn
    from torch.nn import functional

    hidden, heads, groups, head = config.hidden, config.heads, config.kv_heads, config.head_size

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(1.0 + 0.02 * torch.randn(hidden))

        def forward(self, x):
            wide = x.to(torch.float32)
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + norm_eps)
            return self.weight * wide.to(x.dtype)

    def rotate(x, cos, sin):
        left, right = x[..., : head // 2], x[..., head // 2 :]
        return x * cos + torch.cat((-right, left), dim=-1) * sin

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.input_norm, self.post_norm = Norm(), Norm()
            self.q_proj = nn.Linear(hidden, heads * head, bias=qkv_bias)
            self.k_proj = nn.Linear(hidden, groups * head, bias=qkv_bias)
            self.v_proj = nn.Linear(hidden, groups * head, bias=qkv_bias)
            self.o_proj = nn.Linear(heads * head, hidden, bias=False)
            self.gate_proj = nn.Linear(hidden, config.ffn, bias=False)
            self.up_proj = nn.Linear(hidden, config.ffn, bias=False)
            self.down_proj = nn.Linear(config.ffn, hidden, bias=False)
            steps = torch.arange(0, head, 2, dtype=torch.float64) / head
            angles = torch.outer(torch.arange(config.positions), rope_theta ** -steps)
            angles = torch.cat((angles, angles), dim=-1)
            self.register_buffer("cos", angles.cos().float(), persistent=False)
            self.register_buffer("sin", angles.sin().float(), persistent=False)

        def attend(self, x, past_key, past_value):
            batch, length, _ = x.shape
            start = past_key.shape[2]
            query = self.q_proj(x).view(batch, length, heads, head).transpose(1, 2)
            key = self.k_proj(x).view(batch, length, groups, head).transpose(1, 2)
            value = self.v_proj(x).view(batch, length, groups, head).transpose(1, 2)
            cos, sin = self.cos[start : start + length], self.sin[start : start + length]
            keys = torch.cat((past_key, rotate(key, cos, sin)), dim=2)
            values = torch.cat((past_value, value), dim=2)
            rows = torch.arange(length)[:, None] + start
            mask = torch.arange(start + length)[None, :] <= rows
            context = functional.scaled_dot_product_attention(
                rotate(query, cos, sin), keys, values, attn_mask=mask, enable_gqa=True)
            context = context.transpose(1, 2).reshape(batch, length, heads * head)
            return self.o_proj(context), keys, values

        def forward(self, hidden_states, past_key, past_value):
            context, keys, values = self.attend(
                self.input_norm(hidden_states), past_key, past_value)
            states = hidden_states + context
            inner = self.post_norm(states)
            inner = self.down_proj(functional.silu(self.gate_proj(inner)) * self.up_proj(inner))
            return states + inner, keys, values

    return seed_weights(Block())


def llama_inputs(config):
    past = Input(("batch", config.kv_heads, "past", config.head_size))
    return {"hidden_states": Input(("batch", "length", config.hidden)), "past_key": past,
            "past_value": past}


def llama(hidden, heads, kv_heads, ffn, **fixed):
    config = {"hidden": hidden, "heads": heads, "kv_heads": kv_heads, "head_size": 64, "ffn": ffn,
              "positions": 4096}
    return Model(config, lambda chosen: build_llama(chosen, **fixed), llama_inputs,
                 lambda chosen: {"batch": (1, 64), "length": (1, chosen.positions // 2),
                                 "past": (1, chosen.positions // 2)})


MODELS = {
    "gpt2-prefill": gpt2(False),
    "gpt2-decode": gpt2(True),
    "llama-3.2-1b-block": llama(2048, 32, 8, 8192, rope_theta=5e5, qkv_bias=False, norm_eps=1e-5),
    "qwen2.5-0.5b-block": llama(896, 14, 2, 4864, rope_theta=1e6, qkv_bias=True, norm_eps=1e-6),
}
