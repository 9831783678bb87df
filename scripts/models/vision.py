"""vit-b16, resnet50 (v1.5), mobilenetv3-large: an image classifier each, pixel_values f32[batch, 3, image,
image] to logits f32[batch, 1000]."""

from models.spec import Input, Model, check_heads, seed_weights


def build_vit(config):
    import torch
    from torch import nn
    from torch.nn import functional

    check_heads(config)
    hidden, heads = config.hidden, config.heads

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = (nn.LayerNorm(hidden, eps=1e-6) for _ in range(2))
            self.in_proj = nn.Linear(hidden, 3 * hidden)
            self.out_proj = nn.Linear(hidden, hidden)
            self.fc1 = nn.Linear(hidden, config.ffn)
            self.fc2 = nn.Linear(config.ffn, hidden)

        def forward(self, x):
            batch, tokens, _ = x.shape
            joined = self.in_proj(self.ln_1(x)).reshape(batch, tokens, 3, heads, hidden // heads)
            query, key, value = joined.permute(2, 0, 3, 1, 4).unbind(0)
            context = functional.scaled_dot_product_attention(query, key, value)
            x = x + self.out_proj(context.transpose(1, 2).reshape(batch, tokens, hidden))
            return x + self.fc2(functional.gelu(self.fc1(self.ln_2(x))))

    class Vit(nn.Module):
        def __init__(self):
            super().__init__()
            tokens = (config.image // config.patch) ** 2 + 1
            self.conv_proj = nn.Conv2d(3, hidden, config.patch, stride=config.patch)
            self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, hidden))
            self.pos_embedding = nn.Parameter(0.02 * torch.randn(1, tokens, hidden))
            self.layers = nn.ModuleList(Layer() for _ in range(config.layers))
            self.ln = nn.LayerNorm(hidden, eps=1e-6)
            self.head = nn.Linear(hidden, 1000)

        def forward(self, pixel_values):
            patches = self.conv_proj(pixel_values).flatten(2).transpose(1, 2)
            first = self.class_token.expand(patches.shape[0], -1, -1)
            states = torch.cat((first, patches), dim=1) + self.pos_embedding
            for layer in self.layers:
                states = layer(states)
            return self.head(self.ln(states)[:, 0])

    return seed_weights(Vit())


def build_resnet(config):
    import torch
    from torch import nn

    def conv(size_in, size_out, kernel, stride=1):
        return nn.Sequential(
            nn.Conv2d(size_in, size_out, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(size_out))

    class Bottleneck(nn.Module):
        """v1.5: the stride lies on the 3x3 convolution."""

        def __init__(self, size_in, planes, stride):
            super().__init__()
            self.first = conv(size_in, planes, 1)
            self.second = conv(planes, planes, 3, stride)
            self.third = conv(planes, 4 * planes, 1)
            self.shortcut = None
            if stride != 1 or size_in != 4 * planes:
                self.shortcut = conv(size_in, 4 * planes, 1, stride)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            y = self.third(self.relu(self.second(self.relu(self.first(x)))))
            y += x if self.shortcut is None else self.shortcut(x)
            return self.relu(y)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            counts = [int(count) for count in config.blocks.split("-")]
            size_in = config.width
            self.stem = nn.Sequential(
                nn.Conv2d(3, size_in, 7, 2, 3, bias=False), nn.BatchNorm2d(size_in),
                nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
            blocks = []
            for stage, count in enumerate(counts):
                planes = config.width << stage
                for index in range(count):
                    blocks.append(Bottleneck(size_in, planes, 2 if stage and not index else 1))
                    size_in = 4 * planes
            self.blocks = nn.Sequential(*blocks)
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.fc = nn.Linear(size_in, 1000)

        def forward(self, pixel_values):
            return self.fc(torch.flatten(self.pool(self.blocks(self.stem(pixel_values))), 1))

    model = seed_weights(ResNet())
    for module in model.modules():  # Else fifty additions of unit variance grow from block to block.
        if isinstance(module, Bottleneck):
            nn.init.normal_(module.third[1].weight, mean=0.2, std=0.02)
    return model


# kernel, expanded, out, squeeze and excite, hard swish (else ReLU), stride
MOBILENET_V3_LARGE = (
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
)


def build_mobilenet(config):
    import torch
    from torch import nn

    def conv(size_in, size_out, kernel=1, stride=1, groups=1, act=None):
        parts = [nn.Conv2d(size_in, size_out, kernel, stride, kernel // 2, groups=groups, bias=False),
                 nn.BatchNorm2d(size_out, eps=1e-3)]
        return nn.Sequential(*parts, *([act(inplace=True)] if act else []))

    class Squeeze(nn.Module):
        def __init__(self, size):
            super().__init__()
            inner = max(8, (size // 4 + 4) // 8 * 8)
            inner += 8 if inner < 0.9 * (size // 4) else 0
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.fc1 = nn.Conv2d(size, inner, 1)
            self.fc2 = nn.Conv2d(inner, size, 1)

        def forward(self, x):
            scale = self.fc2(torch.relu(self.fc1(self.pool(x))))
            return nn.functional.hardsigmoid(scale) * x

    class Inverted(nn.Module):
        def __init__(self, size_in, kernel, expanded, size_out, squeezed, hard, stride):
            super().__init__()
            act = nn.Hardswish if hard else nn.ReLU
            parts = [] if expanded == size_in else [conv(size_in, expanded, act=act)]
            parts.append(conv(expanded, expanded, kernel, stride, expanded, act))
            parts += [Squeeze(expanded)] if squeezed else []
            self.layers = nn.Sequential(*parts, conv(expanded, size_out))
            self.is_residual = stride == 1 and size_in == size_out

        def forward(self, x):
            return x + self.layers(x) if self.is_residual else self.layers(x)

    class MobileNet(nn.Module):
        def __init__(self):
            super().__init__()
            layers, size_in = [conv(3, 16, 3, 2, act=nn.Hardswish)], 16
            for row in MOBILENET_V3_LARGE[: config.layers]:
                layers.append(Inverted(size_in, *row))
                size_in = row[2]
            layers.append(conv(size_in, 960, act=nn.Hardswish))
            self.features = nn.Sequential(*layers)
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.classifier = nn.Sequential(
                nn.Linear(960, 1280), nn.Hardswish(inplace=True), nn.Dropout(0.2),
                nn.Linear(1280, 1000))

        def forward(self, pixel_values):
            return self.classifier(torch.flatten(self.pool(self.features(pixel_values)), 1))

    return seed_weights(MobileNet())


def model(build, config):
    return Model({**config, "image": 224}, build,
                 lambda chosen: {"pixel_values": Input(("batch", 3, chosen.image, chosen.image))},
                 lambda chosen: {"batch": (1, 64)})


MODELS = {
    "vit-b16": model(build_vit, {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "patch": 16}),
    "resnet50": model(build_resnet, {"blocks": "3-4-6-3", "width": 64}),
    "mobilenetv3-large": model(build_mobilenet, {"layers": 15}),
}
