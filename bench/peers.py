"""Peers of the CPU benchmarks: torch eager, torch.compile (Inductor), ONNX Runtime and OpenVINO on the same work.

The benchmark programs start it (--peers "PYTHON bench/peers.py MODEL_DIR") and ask for bursts of calls between their own,
so that both sides see the same machine. Requests and answers are JSON messages on descriptor 3, each after its length
as 32 bits, little-endian:

    {"op": "prepare", "row": ROW, "threads": N}                → {"peers": [NAME, ...], "versions": {...}}
    {"op": "burst", "row": ROW, "peer": NAME, "seconds": S}    → {"times": [microseconds, ...]}
    {"op": "drop", "row": ROW}                                 → {}

Needs torch, onnxruntime, onnx, openvino, safetensors.
"""
import json
import os
import re
import socket
import struct
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

HIDDEN, HEADS, LAYERS = 384, 12, 6


def normal(*shape):
    return torch.randn(*shape)


# Row of cpu_memory and cpu_latency → function and its inputs.
ROWS = {
    "E1.1 64x128": (lambda x, y: (torch.relu(x + y) * 2).sum(-1), lambda: [normal(64, 128), normal(64, 128)]),
    "relu(x+y)*2 row sum 8192x4096": (lambda x, y: (torch.relu(x + y) * 2).sum(-1),
                                      lambda: [normal(8192, 4096), normal(8192, 4096)]),
    "x.T+y 4096x4096": (lambda x, y: x.t() + y, lambda: [normal(4096, 4096), normal(4096, 4096)]),
    "softmax 16384x1000": (lambda x: torch.softmax(x, -1), lambda: [normal(16384, 1000)]),
    "layernorm 16384x1024": (lambda x, w, b: F.layer_norm(x, (1024,), w, b),
                             lambda: [normal(16384, 1024), normal(1024), normal(1024)]),
    "gelu 2^25": (lambda x: F.gelu(x), lambda: [normal(1 << 25)]),
    "column sum 8192x4096": (lambda x: x.sum(0), lambda: [normal(8192, 4096)]),
    "full sum 2^26": (lambda x: x.sum(), lambda: [normal(1 << 26)]),
    "cumsum 4096x4096": (lambda x: x.cumsum(-1), lambda: [normal(4096, 4096)]),
    "argmax 8192x4096": (lambda x: x.argmax(-1), lambda: [normal(8192, 4096)]),
}


class Encoder(torch.nn.Module):
    """The encoder of MiniLM: (B, S) ids and 0/1 mask → (B, 384) unit vectors, mean-pooled."""

    def __init__(self, path):
        super().__init__()
        from safetensors.torch import load_file
        tensors = {k: v for k, v in load_file(path).items() if v.is_floating_point()}
        self.names = {k: k.replace(".", "_") for k in tensors}
        for k, v in tensors.items():
            self.register_buffer(self.names[k], v)

    def weight(self, name):
        return getattr(self, self.names[name])

    def dense(self, x, name):
        return F.linear(x, self.weight(name + ".weight"), self.weight(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, (HIDDEN,), self.weight(name + ".weight"), self.weight(name + ".bias"), 1e-12)

    def heads(self, x, name):
        b, s, _ = x.shape
        return self.dense(x, name).view(b, s, HEADS, HIDDEN // HEADS).transpose(1, 2)

    def layer(self, x, bias, name):
        at = name + ".attention"
        q, k, v = (self.heads(x, f"{at}.self.{part}") for part in ("query", "key", "value"))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5 + bias, -1)
        mixed = (weights @ v).transpose(1, 2).reshape(x.shape)
        x = self.norm(x + self.dense(mixed, at + ".output.dense"), at + ".output.LayerNorm")
        inner = F.gelu(self.dense(x, name + ".intermediate.dense"))
        return self.norm(x + self.dense(inner, name + ".output.dense"), name + ".output.LayerNorm")

    def forward(self, ids, mask):
        table = "embeddings.{}_embeddings.weight"
        x = F.embedding(ids, self.weight(table.format("word")))
        x = x + self.weight(table.format("position"))[:ids.shape[1]] + self.weight(table.format("token_type"))[0]
        x = self.norm(x, "embeddings.LayerNorm")
        mask = mask.float()
        bias = (mask[:, None, None, :] - 1) * 1e9
        for i in range(LAYERS):
            x = self.layer(x, bias, f"encoder.layer.{i}")
        mask = mask[:, :, None]
        return F.normalize((x * mask).sum(1) / mask.sum(1), dim=-1)


class Sentences:
    """The model in all four peers; made once."""

    def __init__(self, folder, threads):
        import onnxruntime
        import openvino
        self.model = Encoder(folder + "/model.safetensors").eval()
        file = os.path.join(tempfile.mkdtemp(), "minilm.onnx")
        axes = {0: "B", 1: "S"}
        with torch.no_grad():
            torch.onnx.export(self.model, (torch.randint(0, 30000, (2, 17)), torch.ones(2, 17, dtype=torch.int64)), file,
                              dynamo=False, opset_version=17, input_names=["ids", "mask"], output_names=["out"],
                              dynamic_axes={"ids": axes, "mask": axes})
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.network = openvino.Core().compile_model(
            file, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"})
        self.compiled = torch.compile(self.model, dynamic=False)

    def calls(self, batch, length):
        ids, mask = torch.randint(1000, 30000, (batch, length)), torch.ones(batch, length, dtype=torch.int64)
        feed = {"ids": ids.numpy(), "mask": mask.numpy()}
        return {"eager": lambda: self.model(ids, mask), "inductor": lambda: self.compiled(ids, mask),
                "onnxruntime": lambda: self.session.run(None, feed), "openvino": lambda: self.network(feed)}


class Server:
    def __init__(self, folder):
        self.folder, self.sentences, self.calls = folder, None, {}

    def versions(self):
        names = ["torch"] + (["onnxruntime", "openvino"] if self.sentences else [])
        return {name: sys.modules[name].__version__ for name in names}

    def prepare(self, row, threads):
        torch.set_num_threads(threads)
        dense = re.fullmatch(r"MiniLM (\d+)x(\d+)", row)
        if dense:
            self.sentences = self.sentences or Sentences(self.folder, threads)
            calls = self.sentences.calls(*map(int, dense.groups()))
        elif row in ROWS:
            function, inputs = ROWS[row]
            args = inputs()
            torch._dynamo.reset()
            compiled = torch.compile(function, dynamic=False)
            calls = {"eager": lambda: function(*args), "inductor": lambda: compiled(*args)}
        else:
            calls = {}
        for call in calls.values():
            for _ in range(3):
                call()
        self.calls[row] = calls
        return {"peers": list(calls), "versions": self.versions()}

    def burst(self, row, peer, seconds):
        call, times = self.calls[row][peer], []
        call()
        end = time.perf_counter() + seconds
        while len(times) < 2 or time.perf_counter() < end:
            begin = time.perf_counter()
            call()
            times.append((time.perf_counter() - begin) * 1e6)
        return {"times": times}

    def drop(self, row):
        self.calls.pop(row, None)
        return {}


def main():
    channel, server = socket.socket(fileno=3), Server(sys.argv[1])

    def receive(count):
        data = b""
        while len(data) < count:
            piece = channel.recv(count - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    with torch.no_grad():
        while True:
            request = json.loads(receive(struct.unpack("<I", receive(4))[0]))
            answer = json.dumps(getattr(server, request.pop("op"))(**request)).encode()
            channel.sendall(struct.pack("<I", len(answer)) + answer)


if __name__ == "__main__":
    main()
