// Literals in comparisons and arithmetic take the dtype of the tensor beside them; in tl.where they do not, so typed
// ones are made with tl.full.
#include "codegen/triton/helper_text.h"

namespace stax::codegen {
namespace {

constexpr TritonHelper kHelpers[] = {
    // Combine operators.
    {"stax_add", R"(
def stax_add(a, b):
    return a + b
)"},
    {"stax_mul", R"(
def stax_mul(a, b):
    return a * b
)"},
    {"stax_or", R"(
def stax_or(a, b):
    return a | b
)"},
    {"stax_and", R"(
def stax_and(a, b):
    return a & b
)"},
    {"stax_max", R"(
def stax_max(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)
)"},
    {"stax_min", R"(
def stax_min(a, b):
    return tl.minimum(a, b, tl.PropagateNan.ALL)
)"},
    // The first NaN, else the first extremum.
    {"stax_argmax", R"(
def stax_argmax(v1, i1, v2, i2):
    nan1 = v1 != v1
    nan2 = v2 != v2
    same = (v1 == v2) | (nan1 & nan2)
    first = (v1 > v2) | (nan1 & (nan2 == 0)) | (same & (i1 < i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)
)"},
    {"stax_argmin", R"(
def stax_argmin(v1, i1, v2, i2):
    nan1 = v1 != v1
    nan2 = v2 != v2
    same = (v1 == v2) | (nan1 & nan2)
    first = (v1 < v2) | (nan1 & (nan2 == 0)) | (same & (i1 < i2))
    return tl.where(first, v1, v2), tl.where(first, i1, i2)
)"},
    // Chan's merge of (mean, sum of squared differences, count).
    {"stax_welford", R"(
def stax_welford(mean1, m1, n1, mean2, m2, n2):
    n = n1 + n2
    ratio = stax_div(n2, n + (n == 0).to(n.dtype))
    delta = mean2 - mean1
    merged = tl.where(delta - delta == 0, mean1 + delta * ratio, mean1 + mean2)
    mean = tl.where(n1 == 0, mean2, tl.where(n2 == 0, mean1, merged))
    m = tl.where(n1 == 0, m2, tl.where(n2 == 0, m1, m1 + m2 + delta * delta * (n1 * ratio)))
    return mean, m, n
)"},
    // (m, d) with d = sum of e^(x - m); what weighs nothing stays nothing.
    {"stax_softmax", R"(
def stax_softmax(m1, d1, m2, d2):
    m = tl.maximum(m1, m2, tl.PropagateNan.ALL)
    e1 = tl.where(d1 == 0, d1, d1 * libdevice.exp(m1 - m))
    e2 = tl.where(d2 == 0, d2, d2 * libdevice.exp(m2 - m))
    return m, e1 + e2
)"},
    // Arithmetic.
    {"stax_div", R"(
def stax_div(a, b):
    if a.dtype == tl.float32:
        q = tl.div_rn(a, b)
    else:
        q = a / b
    return q
)"},
    // a / b where b is the sum of the a >= 0 along the row, from 1 to the length of a row, or NaN: the quotient from
    // the
    // divisor's reciprocal in two parts and one correction (Markstein 1990). Correctly rounded while no remainder
    // underflows: for a from 2^-100 on. Smaller ones are within one unit in the last place.
    {"stax_softmax_share", R"(
def stax_softmax_share(a, b):
    one = tl.full([], 1.0, tl.float32)
    y = tl.div_rn(one, b)
    minus = b * -1.0
    rest = tl.fma(minus, y, one) * y
    q = tl.fma(a, y, a * rest)
    return tl.fma(tl.fma(minus, q, a), y, q)
)"},
    // The same for any sum: divisors beyond 2^-20 to 2^24 divide as usual.
    {"stax_share", R"(
def stax_share(a, b):
    keys = (b.to(tl.uint32, bitcast=True) << 1) - tl.full([], 1795162112, tl.uint32)
    if tl.max(keys, axis=None) <= tl.full([], 738197504, tl.uint32):
        q = stax_softmax_share(a, b)
    else:
        q = tl.div_rn(a, b)
    return q
)"},
    {"stax_sign", R"(
def stax_sign(x):
    s = (x > 0).to(x.dtype) - (x < 0).to(x.dtype)
    return tl.where(x != x, x, s)
)"},
    // Within a unit in the last place.
    {"stax_reciprocal", R"(
def stax_reciprocal(x):
    return tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
)"},
    // e = e^-|x| as 2^n e^r, |r| <= ln(2) / 2, by a minimax polynomial, scaled by 2^(n + 64) first, so that it is
    // rounded
    // once; then 1 / (1 + e) or e / (1 + e), where what 1 + e and the quotient were rounded by is put back.
    {"stax_sigmoid", R"(
def stax_sigmoid(x):
    one = tl.full([], 1.0, x.dtype)
    if x.dtype == tl.float32:
        a = tl.minimum(tl.abs(x), 104.0, tl.PropagateNan.ALL)
        k = tl.fma(a, -1.4426950216293335, 12583103.0)
        n = k - 12583103.0
        r = tl.fma(n, 1.9046542121259336e-09, tl.fma(n, -0.6931471824645996, a * -1.0))
        p = tl.fma(r, 0.0013840398751199245, 0.00836934894323349)
        p = tl.fma(p, r, 0.041668083518743515)
        p = tl.fma(p, r, 0.16666515171527863)
        p = tl.fma(p, r, 0.4999999403953552)
        p = tl.fma(tl.fma(p, r, 1.0), r, 1.0)
        e = p * (k.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True) * 5.421010862427522e-20
        s = e + 1.0
        lost = e - (s - 1.0)
        above = tl.where(x < 0, e, one)
        y = stax_reciprocal(s)
        q = above * y
        minus = q * -1.0
        q = tl.fma(tl.fma(minus, lost, tl.fma(minus, s, above)), y, q)
    else:
        e = libdevice.exp(-tl.abs(x))
        q = tl.where(x < 0, e, one) / (one + e)
    return q
)"},
    // Integer divisions: by zero gives 0, MIN / -1 wraps.
    {"stax_int_div", R"(
def stax_int_div(a, b):
    one = tl.full([], 1, b.dtype)
    zero = tl.full([], 0, b.dtype)
    q = a // tl.where((b == 0) | (b == -1), one, b)
    return tl.where(b == 0, zero, tl.where(b == -1, 0 - a, q))
)"},
    {"stax_int_mod", R"(
def stax_int_mod(a, b):
    return tl.where(b == 0, tl.full([], 0, b.dtype), a - stax_int_div(a, b) * b)
)"},
    {"stax_int_floor_div", R"(
def stax_int_floor_div(a, b):
    q = stax_int_div(a, b)
    r = a - q * b
    adjust = (b != 0) & (r != 0) & ((r < 0) != (b < 0))
    return q - adjust.to(a.dtype)
)"},
    {"stax_int_floor_mod", R"(
def stax_int_floor_mod(a, b):
    r = stax_int_mod(a, b)
    return tl.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
)"},
    {"stax_uint_div", R"(
def stax_uint_div(a, b):
    q = a // tl.where(b == 0, tl.full([], 1, b.dtype), b)
    return tl.where(b == 0, tl.full([], 0, b.dtype), q)
)"},
    {"stax_uint_mod", R"(
def stax_uint_mod(a, b):
    return tl.where(b == 0, tl.full([], 0, b.dtype), a - stax_uint_div(a, b) * b)
)"},
    {"stax_uint_pow", R"(
def stax_uint_pow(base, exponent, bits: tl.constexpr):
    result = (base & 0) + (exponent & 0) + 1
    square = base + (exponent & 0)
    e = exponent + (base & 0)
    for _ in range(bits):
        result = tl.where((e & 1) != 0, result * square, result)
        square = square * square
        e = e >> 1
    return result
)"},
    {"stax_int_pow", R"(
def stax_int_pow(base, exponent, bits: tl.constexpr):
    one = tl.full([], 1, base.dtype)
    zero = tl.full([], 0, base.dtype)
    unit = tl.where((exponent & 1) == 0, one, base)
    negative = tl.where((base == 1) | (base == -1), unit, zero)
    return tl.where(exponent < 0, negative, stax_uint_pow(base, exponent, bits))
)"},
    {"stax_float_floor_mod", R"(
def stax_float_floor_mod(a, b):
    m = libdevice.fmod(a, b)
    return tl.where((m != 0) & ((b < 0) != (m < 0)), m + b, m)
)"},
    // The floor of the exact quotient, from the remainder.
    {"stax_float_floor_div", R"(
def stax_float_floor_div(a, b):
    plain = stax_div(a, b)
    m = libdevice.fmod(a, b)
    q = stax_div(a - m, b)
    q = q - ((m != 0) & ((b < 0) != (m < 0))).to(q.dtype)
    f = tl.floor(q)
    f = f + (q - f > 0.5).to(q.dtype)
    f = tl.where(q == 0, libdevice.copysign(f * 0.0, plain), f)
    return tl.where(b == 0, plain, f)
)"},
    // NaN gives 0; beyond 64 bits the nearest; narrower integers take the low bits.
    {"stax_float_to_int64", R"(
def stax_float_to_int64(x):
    inside = tl.abs(x) < 9223372036854775808.0
    y = tl.where(inside, x, x - x)
    y = tl.where(y != y, tl.full([], 0.0, x.dtype), y).to(tl.int64)
    y = tl.where(x >= 9223372036854775808.0, tl.full([], 9223372036854775807, tl.int64), y)
    return tl.where(x <= -9223372036854775808.0, tl.full([], -9223372036854775808, tl.int64), y)
)"},
    // Index arithmetic with operands of any sign; b may be a literal.
    {"stax_index_floor_div", R"(
def stax_index_floor_div(a, b):
    q = a // b
    r = a - q * b
    return q - ((r != 0) & ((r < 0) != (b < 0))).to(tl.int32)
)"},
    {"stax_index_floor_mod", R"(
def stax_index_floor_mod(a, b):
    return a - stax_index_floor_div(a, b) * b
)"},
    {"stax_index_ceil_div", R"(
def stax_index_ceil_div(a, b):
    return 0 - stax_index_floor_div(0 - a, b)
)"},
    // The first report stays. The word lies in memory that the host reads. Scalars become blocks of one, since
    // reductions refuse scalars.
    {"stax_raise", R"(
def stax_raise(error, bad, code, origin, index, bound):
    bad = bad & tl.full([1], 1, tl.int1)
    index = index + tl.full([1], 0, tl.int64)
    if tl.max(bad.to(tl.int32), axis=None) > 0:
        last = tl.full([], 9223372036854775807, tl.int64)
        at = tl.min(tl.where(bad, index, last), axis=None)
        none = tl.full([], 0, tl.int64)
        mine = tl.full([], code, tl.int64)
        if tl.atomic_cas(error, none, mine, sem="relaxed", scope="sys") == 0:
            tl.store(error + 1, origin)
            tl.store(error + 2, at)
            tl.store(error + 3, bound)
)"},
    // Philox 4x32-10 as base/philox.cpp, bit for bit.
    {"stax_philox", R"(
def stax_philox(element, seed):
    low = tl.full([], 4294967295, tl.uint64)
    e = element.to(tl.uint64)
    s = seed.to(tl.uint64)
    m0 = tl.full([], 3528531795, tl.uint64)
    m1 = tl.full([], 3449720151, tl.uint64)
    w0 = tl.full([], 2654435769, tl.uint64)
    w1 = tl.full([], 3144134277, tl.uint64)
    c0 = e & low
    c1 = e >> 32
    c2 = e & 0
    c3 = e & 0
    k0 = s & low
    k1 = s >> 32
    for _ in tl.static_range(10):
        a = c0 * m0
        b = c2 * m1
        c0 = (b >> 32) ^ c1 ^ k0
        c1 = b & low
        c2 = (a >> 32) ^ c3 ^ k1
        c3 = a & low
        k0 = (k0 + w0) & low
        k1 = (k1 + w1) & low
    return c0, c1
)"},
    {"stax_uniform", R"(
def stax_uniform(element, seed):
    w0, w1 = stax_philox(element, seed)
    return (w0 >> 8).to(tl.int32).to(tl.float32) * 5.960464477539063e-08
)"},
    {"stax_normal_log", R"(
def stax_normal_log(x):
    bits = x.to(tl.int32, bitcast=True)
    k = (bits - 1060439283) >> 23
    f = (bits - k * 8388608).to(tl.float32, bitcast=True) - 1.0
    e = k.to(tl.float32)
    q = f * -0.0763639584183693 + 0.12762197852134705
    q = q * f + -0.1315961331129074
    q = q * f + 0.14201581478118896
    q = q * f + -0.166234090924263
    q = q * f + 0.2000124156475067
    q = q * f + -0.2500081956386566
    q = q * f + 0.3333333134651184
    q = q * f + -0.5
    return e * 0.6931471824645996 + (f + f * f * q)
)"},
    {"stax_normal_cos", R"(
def stax_normal_cos(turns):
    t = turns * 4.0
    n = (t + 0.5).to(tl.int32)
    r = (t - n.to(tl.float32)) * 1.5707963705062866
    z = r * r
    s = z * -0.00019518405315466225 + 0.008332190103828907
    s = s * z + -0.16666655242443085
    odd = s * z * r + r
    c = z * 2.4430670237052254e-05 + -0.00138873013202101
    c = c * z + 0.04166664555668831
    c = c * z + -0.5
    even = c * z + 1.0
    y = tl.where((n & 1) != 0, odd, even)
    return tl.where(((n + 1) & 2) != 0, y * -1.0, y)
)"},
    {"stax_normal", R"(
def stax_normal(element, seed):
    w0, w1 = stax_philox(element, seed)
    u = ((w0 >> 8).to(tl.int32).to(tl.float32) + 1.0) * 5.960464477539063e-08
    t = (w1 >> 8).to(tl.int32).to(tl.float32) * 5.960464477539063e-08
    return tl.sqrt_rn(stax_normal_log(u) * -2.0) * stax_normal_cos(t)
)"},
};

}  // namespace

std::span<const TritonHelper> triton_helpers() { return kHelpers; }

}  // namespace stax::codegen
