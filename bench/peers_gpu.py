"""What a user of PyTorch gets on the same GPU for the rows of bench_gpu.

    python3 bench/peers_gpu.py [memory] [host] [minilm] [--rows N] [--only TEXT] > peers.jsonl      prints one JSON object a row

Memory rows: launches back to back in a CUDA graph over rotating sets of tensors (8 GB in all, two sets at least), the
median of 7 replays. Peers: eager, torch.compile by default and with max-autotune-no-cudagraphs. `copy` rows give the
bandwidth of the card in the same run, as the best of some block sizes of a Triton copy, in TB/s of bytes read and
written. Needs torch with Triton. The encoder has random weights of
MiniLM-L6's shapes: its time is the same.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

torch.manual_seed(0)
torch._dynamo.config.cache_size_limit = 256
SETS_BYTES = 8 << 30


def emit(**row):
    row["versions"] = {"torch": torch.__version__, "triton": triton.__version__, "gpu": torch.cuda.get_device_name()}
    print(json.dumps(row), flush=True)


def graph_us(call, sets, rounds=7):
    """Microseconds a call, from a CUDA graph that calls once on each set."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        for s in sets[:2]:
            call(*s)
            call(*s)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        keep = []
        with torch.cuda.graph(graph, stream=stream):
            for s in sets:
                keep.append(call(*s))
        graph.replay()
        torch.cuda.synchronize()
        times = []
        for _ in range(rounds):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            graph.replay()
            b.record()
            torch.cuda.synchronize()
            times.append(a.elapsed_time(b) * 1e3 / len(sets))
    return round(statistics.median(times), 2)


@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n, eviction_policy="evict_last"), mask=i < n)


def copy_row():
    n = 1 << 28
    pairs = [(torch.randn(n, device="cuda"), torch.empty(n, device="cuda")) for _ in range(4)]
    best = {}
    for block, warps in ((1024, 4), (2048, 4), (4096, 4), (4096, 8)):
        def call(x, y, block=block, warps=warps):
            copy_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, num_warps=warps)
        best[(block, warps)] = graph_us(call, pairs)
    us = min(best.values())
    emit(row="copy 2^28 f32", triton_us=us, torch_us=graph_us(lambda x, y: y.copy_(x), pairs), TBps=round(8 * n / us / 1e6, 3))


def rnd(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


BF = torch.bfloat16
MEMORY = [
    ("relu(x+y)*2 row sum 16384x8192 f32", lambda x, y: (F.relu(x + y) * 2).sum(-1), lambda: (rnd(16384, 8192), rnd(16384, 8192))),
    ("x.T+y 8192x8192 f32", lambda x, y: x.t() + y, lambda: (rnd(8192, 8192), rnd(8192, 8192))),
    ("softmax 32768x4096 bf16", lambda x: F.softmax(x, -1), lambda: (rnd(32768, 4096, dtype=BF),)),
    ("softmax 262144x1000 bf16", lambda x: F.softmax(x, -1), lambda: (rnd(262144, 1000, dtype=BF),)),
    ("layernorm 16384x8192 bf16", lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b),
     lambda: (rnd(16384, 8192, dtype=BF), rnd(8192, dtype=BF), rnd(8192, dtype=BF))),
    ("sum 2^27 f32", lambda x: x.sum(), lambda: (rnd(1 << 27),)),
    ("column sum 16384x8192 f32", lambda x: x.sum(0), lambda: (rnd(16384, 8192),)),
    ("gelu 2^26 f32", lambda x: F.gelu(x), lambda: (rnd(1 << 26),)),
    ("softmax 4096x65536 bf16", lambda x: F.softmax(x, -1), lambda: (rnd(4096, 65536, dtype=BF),)),
]


def memory():
    copy_row()
    for name, fn, make in MEMORY:
        first = make()
        size = sum(t.nbytes for t in first)
        sets = [first] + [make() for _ in range(max(1, min(15, SETS_BYTES // size - 1)))]
        row = {}
        for mode in ("eager", "default", "max-autotune-no-cudagraphs", "dynamic"):
            torch._dynamo.reset()
            f = fn
            if mode == "dynamic":
                f = torch.compile(fn, dynamic=True)
            elif mode != "eager":
                f = torch.compile(fn, mode=None if mode == "default" else mode)
            key = {"max-autotune-no-cudagraphs": "max_autotune", "default": "torch_compile", "dynamic": "torch_compile_dynamic"}.get(mode, mode)
            row[key + "_us"] = graph_us(f, sets)
        emit(row=name, **row)
        del sets, first
        torch.cuda.empty_cache()
    copy_row()


def host_us(call, n=100, rounds=25):
    with torch.no_grad():
        for _ in range(50):
            call()
        torch.cuda.synchronize()
        best = []
        for _ in range(rounds):
            begin = time.perf_counter()
            for _ in range(n):
                call()
            best.append((time.perf_counter() - begin) / n * 1e6)
            torch.cuda.synchronize()
    return round(min(best), 2)


def host():
    """Host time a call: 3 pointwise kernels with a library call after each."""
    x, w, b = rnd(64, 128), rnd(128, 128), rnd(128)

    def chain(x, w, b):
        for _ in range(3):
            x = torch.sin(x + b) @ w
        return x

    row = {"eager_us": host_us(lambda: chain(x, w, b))}
    for key, dynamic in (("torch_compile_us", False), ("torch_compile_dynamic_us", True)):
        torch._dynamo.reset()
        f = torch.compile(chain, dynamic=dynamic)
        row[key] = host_us(lambda: f(x, w, b))
    emit(row="host time of 3 pointwise kernels and 3 products 64x128", **row)
    e = lambda x, y: (F.relu(x + y) * 2).sum(-1)
    y = rnd(64, 128)
    row = {"eager_us": host_us(lambda: e(x, y))}
    for key, dynamic in (("torch_compile_us", False), ("torch_compile_dynamic_us", True)):
        torch._dynamo.reset()
        f = torch.compile(e, dynamic=dynamic)
        row[key] = host_us(lambda: f(x, y))
    emit(row="host time of relu(x+y)*2 row sum 64x128", **row)


def minilm():
    heads, width, inner, layers, words = 12, 384, 1536, 6, 30522
    lin = lambda o, i: (rnd(o, i, dtype=BF) * 0.05, rnd(o, dtype=BF) * 0.05)
    norm = lambda: (torch.ones(width, device="cuda", dtype=BF), torch.zeros(width, device="cuda", dtype=BF))
    table, positions, kind, first = rnd(words, width, dtype=BF) * 0.05, rnd(512, width, dtype=BF) * 0.05, rnd(width, dtype=BF) * 0.05, norm()
    blocks = [(lin(3 * width, width), lin(width, width), norm(), lin(inner, width), lin(width, inner), norm()) for _ in range(layers)]
    ln = lambda x, p: F.layer_norm(x, (width,), *p, 1e-12)

    def encode(ids, mask):
        n, length = ids.shape
        x = ln(F.embedding(ids, table) + positions[:length] + kind, first)
        bias = ((mask - 1) * 1e9).to(BF)[:, None, None, :]
        for qkv, out, norm1, up, down, norm2 in blocks:
            q, k, v = F.linear(x, *qkv).view(n, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            p = torch.softmax(q @ k.transpose(-1, -2) * (width // heads) ** -0.5 + bias, -1)
            x = ln(F.linear((p @ v).transpose(1, 2).reshape(n, length, width), *out) + x, norm1)
            x = ln(F.linear(F.gelu(F.linear(x, *up)), *down) + x, norm2)
        kept = mask[..., None]
        mean = (x.float() * kept).sum(1) / kept.sum(1)
        return F.normalize(mean, dim=-1)

    for n, length in ((32, 128), (1, 16)):
        ids = torch.randint(0, words, (n, length), device="cuda", dtype=torch.int32)
        mask = torch.ones(n, length, device="cuda")
        row = {}
        for key, mode in (("eager_us", None), ("torch_compile_us", "default"), ("max_autotune_us", "max-autotune-no-cudagraphs")):
            torch._dynamo.reset()
            f = encode if mode is None else torch.compile(encode, mode=None if mode == "default" else mode)
            with torch.no_grad():
                for _ in range(5):
                    f(ids, mask)
                torch.cuda.synchronize()
                times = []
                for _ in range(30):
                    begin = time.perf_counter()
                    f(ids, mask)
                    torch.cuda.synchronize()
                    times.append((time.perf_counter() - begin) * 1e6)
            row[key] = round(statistics.median(times), 1)
        emit(row=f"MiniLM bf16 {n}x{length}", **row)


if __name__ == "__main__":
    if "--rows" in sys.argv:  # the first N memory rows
        at = sys.argv.index("--rows")
        MEMORY = MEMORY[: int(sys.argv[at + 1])]
        del sys.argv[at : at + 2]
    if "--only" in sys.argv:  # memory rows with this text in their name
        at = sys.argv.index("--only")
        MEMORY = [row for row in MEMORY if sys.argv[at + 1] in row[0]]
        del sys.argv[at : at + 2]
    for group in sys.argv[1:] or ["memory", "host", "minilm"]:
        begin = time.time()
        globals()[group]()
        print(f"{group}: {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
