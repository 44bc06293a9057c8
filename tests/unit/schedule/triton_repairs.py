"""What Triton's interpreter lacks. Its reductions and scans call the combine function for each element; these do so for
whole blocks. Neighbours are combined, so that the order of the operands stays."""
import numpy as np
import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder, ReduceOps, ScanOps, TensorHandle, _get_np_dtype


def combined(ops, kinds, left, right):
    results = ops.combine_fn.fn(*[ops.to_tensor(d, k) for d, k in zip(left, kinds)], *[ops.to_tensor(d, k) for d, k in zip(right, kinds)])
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r.handle.data if isinstance(r, tl.core.tensor) else r).reshape(d.shape).astype(d.dtype) for r, d in zip(results, left)]


def reduced(self, input):
    kinds, data, axis = [t.dtype for t in input], [t.handle.data for t in input], self.axis
    assert axis is not None
    while (n := data[0].shape[axis]) > 1:
        assert n % 2 == 0
        even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
        data = combined(self, kinds, [d.take(even, axis) for d in data], [d.take(odd, axis) for d in data])
    return [self.to_tensor(d if self.keep_dims else d.squeeze(axis), k) for d, k in zip(data, kinds)]


def scanned(self, input):
    kinds, data, axis = [t.dtype for t in input], [t.handle.data for t in input], self.axis
    n = data[0].shape[axis]
    place = np.expand_dims(np.arange(n), [a for a in range(data[0].ndim) if a != axis])
    distance = 1
    while distance < n:
        before = [np.roll(d, distance, axis) for d in data]
        both = combined(self, kinds, before, data)
        data = [np.where(place >= distance, b, d) for b, d in zip(both, data)]
        distance *= 2
    return [self.to_tensor(d, k) for d, k in zip(data, kinds)]


ReduceOps.generic_reduce = reduced
ScanOps.generic_scan = scanned


def maximum(self, a, b):  # NaN if either is; the larger of two zeros is +0
    with np.errstate(all="ignore"):
        data = np.where((a.data == 0) & (b.data == 0), a.data + b.data, np.maximum(a.data, b.data))
    return TensorHandle(data, a.dtype.scalar)


def minimum(self, a, b):
    with np.errstate(all="ignore"):
        data = np.where((a.data == 0) & (b.data == 0), -(-a.data - b.data), np.minimum(a.data, b.data))
    return TensorHandle(data, a.dtype.scalar)


InterpreterBuilder.create_maximumf, InterpreterBuilder.create_minimumf = maximum, minimum


def all_ones(self, kind):  # the interpreter's own has no -1 in unsigned integers
    return TensorHandle(np.full(1, -1).astype(_get_np_dtype(kind)), kind.scalar)


InterpreterBuilder.get_all_ones_value = all_ones
