#!/usr/bin/env python3
"""Models in the shape of well-known ones, estimated without a device: what they take, and how long an estimate takes.

  estimate_models.py [NAME]        one, or all in processes of their own: a table
"""
import json
import resource
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import gpustrata

GIB = 1 << 30


class Attention(nn.Module):
    def __init__(self, width, heads, bias, kept_heads=None):
        super().__init__()
        self.heads, self.kept, self.size = heads, kept_heads or heads, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * self.kept) * self.size, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).split([self.heads * self.size, self.kept * self.size, self.kept * self.size], dim=-1)
        q, k, v = (part.view(batch, length, -1, self.size).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.kept != self.heads)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.attention, self.second = nn.LayerNorm(width), Attention(width, heads, True), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.down(F.gelu(self.up(self.second(x))))


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, inner, kept_heads):
        super().__init__()
        self.first, self.attention, self.second = nn.RMSNorm(width), Attention(width, heads, False, kept_heads), nn.RMSNorm(width)
        self.gate, self.up, self.down = (nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False),
                                         nn.Linear(inner, width, bias=False))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        h = self.second(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Language(nn.Module):
    def __init__(self, words, width, count, block, norm, places=0, tied=True, checkpoints=False):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.places = nn.Embedding(places, width) if places else None
        self.blocks = nn.ModuleList(block() for _ in range(count))
        self.norm, self.head = norm(width), nn.Linear(width, words, bias=False)
        self.checkpoints = checkpoints
        if tied:
            self.head.weight = self.tokens.weight

    def forward(self, indices, targets):
        x = self.tokens(indices)
        if self.places is not None:
            x = x + self.places(torch.arange(indices.shape[1], device=indices.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpoints else block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.short = nn.Sequential(nn.Conv2d(inside, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)) \
            if stride != 1 or inside != 4 * width else nn.Identity()

    def forward(self, x):
        return F.relu(self.layers(x) + self.short(x), inplace=True)


class Resnet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inside = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                layers.append(Bottleneck(inside, width, stride if i == 0 else 1))
                inside = 4 * width
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(2048, 1000)

    def forward(self, images, targets):
        return F.cross_entropy(self.head(self.layers(images).mean((2, 3))), targets)


def gpt(width, count, heads):
    return Language(50257, width, count, lambda: GptBlock(width, heads), nn.LayerNorm, places=1024)


def llama(width, count, heads, inner, kept, words=32000, checkpoints=False):
    return Language(words, width, count, lambda: LlamaBlock(width, heads, inner, kept), nn.RMSNorm, tied=False, checkpoints=checkpoints)


def words(batch, length):
    return torch.zeros(batch, length, dtype=torch.long, device="cuda"), torch.zeros(batch, length, dtype=torch.long, device="cuda")


def images(batch):
    return torch.empty(batch, 3, 224, 224, device="cuda"), torch.zeros(batch, dtype=torch.long, device="cuda")


def adamw(every):
    return torch.optim.AdamW(every, lr=1e-4)


def sgd(every):
    return torch.optim.SGD(every, lr=0.1, momentum=0.9)


# Name: model, its batch, its optimizer, the type of autocast (None: as the parameters are), the type of the parameters.
MODELS = {
    "GPT-2 124M, batch 12 x 1,024, autocast": (lambda: gpt(768, 12, 12), lambda: words(12, 1024), adamw, torch.bfloat16, None),
    "GPT 2.4G, batch 4 x 1,024, autocast": (lambda: gpt(2560, 29, 20), lambda: words(4, 1024), adamw, torch.bfloat16, None),
    "Llama 7B, batch 1 x 2,048, bfloat16": (lambda: llama(4096, 32, 32, 11008, 32), lambda: words(1, 2048), adamw, None, torch.bfloat16),
    "Llama 8B with 8 of 32 key heads, checkpoints, batch 1 x 8,192, bfloat16": (
        lambda: llama(4096, 32, 32, 14336, 8, 128256, True), lambda: words(1, 8192), adamw, None, torch.bfloat16),
    "ResNet-50, batch 256, SGD": (Resnet50, lambda: images(256), sgd, None, None),
}


def run(name):
    make, batch, optimizer_of, autocast, dtype = MODELS[name]
    began = time.process_time()
    with gpustrata.estimate(device="1TiB", margin=0) as estimate:
        model = make().to("cuda", dtype)
        parameters = sum(one.numel() for one in model.parameters())
        optimizer = optimizer_of(model.parameters())
        for _ in range(2):
            with torch.autocast("cuda", autocast, enabled=autocast is not None):
                loss = model(*batch())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    told = estimate.summary()
    return {"name": name, "parameters": parameters, "seconds": time.process_time() - began,
            "requests": len(estimate.requests.lines), "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, **told}


def main():
    if sys.argv[1:]:
        print(json.dumps(run(sys.argv[1])))
        return
    print("| model, two steps | parameters | requested at the peak | reserved | requests | processor, s | this process, MiB |")
    print("|---|---|---|---|---|---|---|")
    for name in MODELS:
        done = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, text=True, check=True)
        told = json.loads(done.stdout.splitlines()[-1])
        print(f"| {name} | {told['parameters']:,} | {told['requested_peak_bytes'] / GIB:.2f} GiB | {told['reserved_peak_bytes'] / GIB:.2f} GiB | "
              f"{told['requests']:,} | {told['seconds']:.1f} | {told['rss'] >> 20} |", flush=True)


if __name__ == "__main__":
    main()
