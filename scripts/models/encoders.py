"""distilbert, bert-base: the configurations of those models, with a 77-class head (Banking77's intents);
outputs last_hidden_state f32[batch, length, hidden] and logits f32[batch, classes].
t5-small-encoder: six layers of 512 with relative position bias; output f32[batch, length, hidden]."""

from models.spec import Input, Model, check_heads, seed_weights


def embeddings(config, with_token_types):
    import torch
    from torch import nn

    class Embeddings(nn.Module):
        def __init__(self):
            super().__init__()
            self.word_embeddings = nn.Embedding(config.vocab, config.hidden, padding_idx=0)
            self.position_embeddings = nn.Embedding(config.positions, config.hidden)
            if with_token_types:
                self.token_type_embeddings = nn.Embedding(2, config.hidden)
            self.layer_norm = nn.LayerNorm(config.hidden, eps=1e-12)
            positions = torch.arange(config.positions).expand((1, -1))
            self.register_buffer("position_ids", positions, persistent=False)

        def forward(self, input_ids):
            result = self.word_embeddings(input_ids)
            if with_token_types:
                result = result + self.token_type_embeddings(torch.zeros_like(input_ids))
            result = result + self.position_embeddings(self.position_ids[:, : input_ids.shape[1]])
            return self.layer_norm(result)

    return Embeddings()


def bert_layer(config):
    import math

    import torch
    from torch import nn
    from torch.nn import functional

    hidden, heads = config.hidden, config.heads

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
            if config.attention == "sdpa":
                context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
            else:
                scores = torch.matmul(query / math.sqrt(hidden // heads), key.transpose(2, 3))
                context = torch.matmul(torch.softmax(scores + mask, dim=-1), value)
            return self.out_lin(context.transpose(1, 2).contiguous().view(batch, length, hidden))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Attention()
            self.sa_layer_norm = nn.LayerNorm(hidden, eps=1e-12)
            self.lin1 = nn.Linear(hidden, config.ffn)
            self.lin2 = nn.Linear(config.ffn, hidden)
            self.output_layer_norm = nn.LayerNorm(hidden, eps=1e-12)

        def forward(self, states, mask):
            states = self.sa_layer_norm(self.attention(states, mask) + states)
            return self.output_layer_norm(self.lin2(functional.gelu(self.lin1(states))) + states)

    return Layer()


def build_bert(config, with_token_types):
    import torch
    from torch import nn

    check_heads(config)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embeddings = embeddings(config, with_token_types)
            self.layers = nn.ModuleList(bert_layer(config) for _ in range(config.layers))
            self.pre_classifier = nn.Linear(config.hidden, config.hidden)
            self.classifier = nn.Linear(config.hidden, config.classes)

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

    return seed_weights(Encoder())


def build_t5(config):
    import math

    import torch
    from torch import nn

    hidden, heads, head = config.hidden, config.heads, config.head_size

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(1.0 + 0.02 * torch.randn(hidden))

        def forward(self, x):
            return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(hidden, heads * head, bias=False) for _ in range(3))
            self.o = nn.Linear(heads * head, hidden, bias=False)

        def forward(self, x, bias):
            batch, length, _ = x.shape

            def split_heads(projected):
                return projected.view(batch, length, heads, head).transpose(1, 2)

            # No scaling by the head's size: T5 puts it into the initial weights.
            scores = torch.matmul(split_heads(self.q(x)), split_heads(self.k(x)).transpose(2, 3))
            weights = torch.softmax((scores + bias).float(), dim=-1)
            context = torch.matmul(weights, split_heads(self.v(x)))
            return self.o(context.transpose(1, 2).contiguous().view(batch, length, heads * head))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm, self.ffn_norm = Norm(), Norm()
            self.attention = Attention()
            self.wi = nn.Linear(hidden, config.ffn, bias=False)
            self.wo = nn.Linear(config.ffn, hidden, bias=False)

        def forward(self, x, bias):
            x = x + self.attention(self.attention_norm(x), bias)
            return x + self.wo(torch.relu(self.wi(self.ffn_norm(x))))

    def bucket(distance):
        """Half of the buckets by sign; near distances exact, far ones by their logarithm up to 128."""
        half = config.buckets // 2
        exact = half // 2
        away = distance.abs()
        scaled = torch.log(away.float() / exact) / math.log(128 / exact) * (half - exact)
        far = torch.clamp(exact + scaled.to(torch.int64), max=half - 1)
        return (distance > 0).to(torch.int64) * half + torch.where(away < exact, away, far)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.shared = nn.Embedding(config.vocab, hidden)
            self.relative_attention_bias = nn.Embedding(config.buckets, heads)
            self.layers = nn.ModuleList(Layer() for _ in range(config.layers))
            self.final_norm = Norm()

        def forward(self, input_ids):
            places = torch.arange(input_ids.shape[1])
            bias = self.relative_attention_bias(bucket(places[None, :] - places[:, None]))
            bias = bias.permute(2, 0, 1)[None]
            states = self.shared(input_ids)
            for layer in self.layers:
                states = layer(states, bias)
            return self.final_norm(states)

    return seed_weights(Encoder())


def bert_inputs(config):
    dims = ("batch", "length")
    return {"input_ids": Input(dims, "ids", config.vocab), "attention_mask": Input(dims, "mask")}


def bert(layers, with_token_types):
    config = {"layers": layers, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 30522,
              "positions": 512, "classes": 77, "attention": "sdpa"}
    return Model(config, lambda chosen: build_bert(chosen, with_token_types), bert_inputs,
                 lambda chosen: {"batch": (1, 64), "length": (1, chosen.positions)},
                 {"attention": ("sdpa", "eager")})


MODELS = {
    "distilbert": bert(6, False),
    "bert-base": bert(12, True),
    "t5-small-encoder": Model(
        {"layers": 6, "hidden": 512, "heads": 8, "head_size": 64, "ffn": 2048, "vocab": 32128,
         "buckets": 32},
        build_t5, lambda config: {"input_ids": Input(("batch", "length"), "ids", config.vocab)},
        lambda config: {"batch": (1, 64), "length": (1, 512)}),
}
