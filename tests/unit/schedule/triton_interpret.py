"""Runs the launches of a folder (see triton_pack.h) in Triton's interpreter, with numpy for libdevice."""
import math, os, sys

os.environ["TRITON_INTERPRET"] = "1"
sys.modules["torch"] = None
import linecache
import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, TensorHandle
from triton.language.extra.cuda import libdevice
import triton_repairs

GridExecutor._init_args_hst = lambda self, args, kwargs: (args, kwargs)
GridExecutor._restore_args_dev = lambda self, *rest: None


def elementwise(f):
    def call(*args, **ignored):
        tensors = [a if isinstance(a, tl.core.tensor) else None for a in args]
        first = next(t for t in tensors if t is not None)
        data = np.broadcast_arrays(*[t.handle.data if t is not None else np.asarray(a, first.handle.data.dtype) for t, a in zip(tensors, args)])
        with np.errstate(all="ignore"):
            result = np.asarray(f(*[d.astype(np.float64) for d in data])).astype(first.handle.data.dtype)
        scalar = first.dtype.scalar
        kind = tl.block_type(scalar, list(result.shape)) if any(t is not None and t.type.is_block() for t in tensors) else scalar
        return tl.core.tensor(TensorHandle(result, scalar), kind)
    return call


for name, f in dict(exp=np.exp, exp2=np.exp2, expm1=np.expm1, log=np.log, log2=np.log2, log1p=np.log1p, tanh=np.tanh, sin=np.sin, cos=np.cos,
                    nearbyint=np.rint, trunc=np.trunc, pow=np.power, fmod=np.fmod, copysign=np.copysign,
                    erf=np.vectorize(math.erf, otypes=[float]), floor=np.floor, ceil=np.ceil).items():
    setattr(libdevice, name, elementwise(f))


def assembly(text, constraints, args, **ignored):
    assert text == "rcp.approx.ftz.f32 $0, $1;", text
    return elementwise(lambda x: 1.0 / x)(*args)


tl.inline_asm_elementwise = assembly


def fma(self, x, y, z):  # float32 rounded once, as on the card
    data = x.data.astype(np.float64) * y.data.astype(np.float64) + z.data.astype(np.float64)
    return TensorHandle(data.astype(z.data.dtype), z.dtype.scalar)


interpreter.InterpreterBuilder.create_fma = fma


class Buffer:
    def __init__(self, kind, path):
        self.path, self.dtype = path, kind
        self.data = np.fromfile(path, dtype=np.uint8)

    def data_ptr(self):
        return self.data.ctypes.data

    def save(self):
        self.data.tofile(self.path)


NAMES = {"*fp32": "float32", "*fp64": "float64", "*fp16": "float16", "*bf16": "bfloat16", "*i8": "int8", "*u8": "uint8", "*i16": "int16",
         "*i32": "int32", "*i64": "int64"}


def load(folder, case, function):
    path = os.path.join(folder, case + ".py")
    with open(path) as f:
        text = f.read()
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    module = {"__name__": "stax_kernel"}
    exec(compile(text, path, "exec"), module)
    return module[function]


def main(folder):
    kernels = {}
    for line in open(os.path.join(folder, "launches.txt")):
        word, *rest = line.split()
        if word == "case":
            case, args, constants, buffers = rest[0], [], {}, []
        elif word == "function":
            kernel = kernels.setdefault(case, load(folder, case, rest[0]))
        elif word == "grid":
            grid = int(rest[0])
        elif word == "buffer":
            buffers.append(Buffer(NAMES[rest[0]], os.path.join(folder, rest[1])))
            args.append(buffers[-1])
        elif word == "integer":
            args.append(int(rest[1]))
        elif word == "double":
            args.append(tl.core.tensor(TensorHandle(np.array([float(rest[0])]), tl.float64), tl.float64))
        elif word == "constant":
            constants[rest[0]] = int(rest[1])
        elif word == "end":
            if grid > 0:
                kernel[(grid,)](*args, **constants)
            for b in buffers:
                b.save()


main(sys.argv[1])
