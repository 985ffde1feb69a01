#!/usr/bin/env python3
"""Random models of PyTorch's own operators, as far as they work where kernels do nothing: products are those of leak_programs.py.

  operator_programs.py      reads jobs from standard input, one JSON object a line; answers each in a line

A job: {"seed", "memory", "addresses", "snapshot"}; the answer: {"peak_requested", "peak_reserved", "made"}. Settings are those of the environment. Runs over the
made-up runtime with MADE_UP_KERNELS=nothing.
"""
import random

import torch
import torch._dynamo
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import claim_programs
from leak_programs import Product


class Linear(nn.Module):
    def __init__(self, inside, outside, bias, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outside, inside, device="cuda", dtype=dtype))
        self.bias = nn.Parameter(torch.empty(outside, device="cuda", dtype=dtype)) if bias else None

    def forward(self, x):
        y = Product.apply(x.half() if x.dtype is not torch.float16 else x, self.weight)
        return y if self.bias is None else y + self.bias


class Norm(nn.Module):
    def __init__(self, kind, width):
        super().__init__()
        self.kind, self.width = kind, width
        self.weight = nn.Parameter(torch.ones(width, device="cuda"))
        self.bias = nn.Parameter(torch.zeros(width, device="cuda")) if kind == "layer" else None

    def forward(self, x):
        if self.kind == "layer":
            return F.layer_norm(x, (self.width,), self.weight.to(x.dtype), self.bias.to(x.dtype))
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight


class Block(nn.Module):
    def __init__(self, pick, width, heads, dtype, norm, attention, drop):
        super().__init__()
        self.heads, self.attention, self.drop = heads, attention, drop
        self.first, self.second = Norm(norm, width), Norm(norm, width)
        self.gated = pick((True, False))
        self.qkv, self.out = Linear(width, 3 * width, pick((True, False)), dtype), Linear(width, width, False, dtype)
        self.up, self.down = Linear(width, (8 if self.gated else 4) * width, False, dtype), Linear(4 * width, width, True, dtype)
        self.act = pick((F.gelu, F.relu, F.silu, torch.tanh, lambda x: F.gelu(x, approximate="tanh")))

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).split(width, dim=-1)
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        if self.attention == "scores":
            scores = Product.apply(q.reshape(-1, width // self.heads), torch.empty(length, width // self.heads, device="cuda", dtype=q.dtype))
            scores = scores.view(batch, self.heads, length, length) * (width // self.heads) ** -0.5
            mask = torch.ones(length, length, dtype=torch.bool, device="cuda").tril()
            scores = scores.masked_fill(~mask, float("-inf"))
            weights = F.dropout(F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), self.drop, self.training)
            mixed = weights.sum(-1, keepdim=True) * v
        elif self.attention == "masked":
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(length, length, dtype=torch.bool, device="cuda").tril())
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).contiguous().view(batch, length, width))

    def forward(self, x):
        x = x + F.dropout(self.attend(self.first(x)), self.drop, self.training)
        h = self.up(self.second(x))
        if self.gated:
            gate, h = h.chunk(2, dim=-1)
            h = self.act(gate) * h
        else:
            h = self.act(h)
        return x + F.dropout(self.down(h), self.drop, self.training)


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.width, self.heads = pick(((128, 2), (256, 4), (512, 8), (192, 3)))
        self.words, self.batch, self.length, self.count = pick((1000, 5000)), pick((1, 2, 4)), pick((64, 128, 200)), pick((1, 2, 4))
        self.norm, self.attention, self.drop = pick(("layer", "root")), pick(("scores", "fused", "masked")), pick((0.0, 0.1))
        self.optimizer, self.clips = pick(("adamw", "adamw", "fused", "loop", "sgd", "adagrad")), pick((True, False))
        self.checkpoints, self.micro, self.steps = pick((None, None, True, False)), pick((1, 2)), self.random.randint(2, 4)
        self.table, self.autocast, self.none = pick((True, False)), pick((True, False)), pick((True, True, False))
        self.blocks = nn.ModuleList(Block(pick, self.width, self.heads, torch.float16, self.norm, self.attention, self.drop) for _ in range(self.count))
        self.tokens = nn.Embedding(self.words, self.width, device="cuda", dtype=torch.float16)
        self.places = nn.Parameter(torch.zeros(self.length, self.width, device="cuda", dtype=torch.float16))
        self.head = Linear(self.width, self.words, False, torch.float16)

    def loss(self):
        indices = torch.zeros(self.batch, self.length, dtype=torch.long, device="cuda")
        if self.table:
            x = self.tokens(indices)
        else:
            x = torch.empty(self.batch, self.length, self.width, dtype=torch.float16, device="cuda")
        x = x + self.places
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=self.checkpoints) if self.checkpoints is not None else block(x)
        logits = self.head(x)
        return F.cross_entropy(logits.float().view(-1, self.words), indices.view(-1))

    def run(self):
        every = [*self.blocks.parameters(), *self.tokens.parameters(), self.places, *self.head.parameters()]
        make = {"adamw": lambda: torch.optim.AdamW(every), "fused": lambda: torch.optim.AdamW(every, fused=True),
                "loop": lambda: torch.optim.Adam(every, foreach=False), "sgd": lambda: torch.optim.SGD(every, lr=0.1, momentum=0.9),
                "adagrad": lambda: torch.optim.Adagrad(every)}
        optimizer = make[self.optimizer]()
        for _ in range(self.steps):
            for _ in range(self.micro):
                with torch.autocast("cuda", torch.float16, enabled=self.autocast):
                    loss = self.loss() / self.micro
                loss.backward()
            if self.clips:
                nn.utils.clip_grad_norm_(every, 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=self.none)


def run(job):
    if job.get("snapshot"):
        torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")
    torch.cuda.init()
    torch.backends.cuda.enable_cudnn_sdp(False)  # cuDNN brings a runtime of its own
    Program(job["seed"]).run()
    stats = torch.cuda.memory_stats()
    if job.get("snapshot"):
        torch.cuda.memory._dump_snapshot(job["snapshot"])
    return {"finished": True, "peak_requested": stats["requested_bytes.all.peak"], "peak_reserved": stats["reserved_bytes.all.peak"],
            "made": stats["allocation.all.allocated"]}


if __name__ == "__main__":
    claim_programs.main(run)
