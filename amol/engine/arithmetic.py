"""Arithmetic of a training, written down so that another language can reach the same bits.

Every operation below is one IEEE 754 operation on float32, rounded to nearest, unless float64 is
said. fma(a, b, c) is a·b + c with a single rounding. Nothing is reordered or contracted, and no
function of a mathematical library is called. Tables are made in float64 and rounded to float32.

Start
    ``RandomState(seed)`` of NumPy (Mersenne twister). Layer by layer from the input on:
    u = random_sample((inputs, outputs)), row after row, then random_sample(outputs) for the bias;
    each is float32((2u − 1) · b), b = 1/sqrt(inputs), in float64. CORAL and CLM draw one column
    (inputs, 1) for their head, which all its K − 1 columns share, and no bias: the bias starts at
    (K − 1, …, 1)/(K − 1).
Order
    permutation(n) of the same generator at the start of each epoch; batches are cut from it in
    order, the last one may be smaller.
Layer
    a_j starts at the bias b_j and takes k = 0, 1, …: a_j ← fma(h_k, W_kj, a_j). Hidden values are
    0 where a_j ≤ 0, else a_j. With dropout they are then multiplied by float32(1/(1 − rate)), or
    0 where `dropped` says so; `dropped` hashes integers, see there.
Loss
    `kinds` gives a sample's value and slopes, sums over classes in order of the class; the kappa
    loss also sums over the batch, in order and in float64. Slopes are multiplied by
    float32(w c_y / C) with w the sample's weight, 1 unless given, c_y the label's class weight and
    C the sum over the batch of w · c_y · (terms of the sample's mean), in order, all in float64.
    Slopes smaller than 1e-30 become 0: numbers near the least float32 are slow.
Back
    At a layer's input: g_k starts at 0 and takes j = 0, 1, …: g_k ← fma(d_j, W_kj, g_k), with the
    weights from before the step; 0 where h_k ≤ 0. With dropout g_k is then multiplied by
    float32(1/(1 − rate)).
Gradient
    G_kj starts at 0 and takes the batch's samples i in order: G_kj ← fma(h_ik, d_ij, G_kj); the
    bias's takes h = 1. In CORAL's and CLM's head every d_ij is replaced by Σ_j d_ij, in order,
    for the weights alone.
Adam
    In float64, step by step: q1 ← 0.9 q1, q2 ← 0.999 q2, both from 1; r = lr · 0.1/(1 − q1);
    scale = float32(sqrt(0.001/(1 − q2))/r), ε = float32(1e-8/r). Moments m and v are kept divided
    by 1 − β. For each parameter w with gradient G:
    G ← fma(decay, w, G); m ← fma(0.9, m, G), 0 where |m| < 1e-30;
    v ← fma(0.999, v, fma(G, G, 1e-30)), which keeps it from the least numbers;
    w ← w − m / fma(sqrt(v), scale, ε).
Validation
    The loss is Σ w c_y · value / Σ w c_y · terms, in order of the samples, in float64; not a
    number where a logit isn't finite.
"""

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from .cache import machine_code_folder

compiled = njit(nogil=True, error_model="numpy")  # division by 0 is IEEE 754's
inlined = njit(nogil=True, error_model="numpy", forceinline=True)  # so that loops take vectors
_kept = machine_code_folder() is not None
entry = njit(nogil=True, error_model="numpy", cache=_kept)  # what Python calls

f4, i4, i8, u4 = np.float32, np.int32, np.int64, np.uint32
TINY = f4(1e-30)

_LOG2_E, _LN2_HIGH, _LN2_LOW = f4(1.4426950408889634), f4(0.693359375), f4(-2.12194440e-4)
_ROUND, _ROUND_BITS = f4(12582912.0), i4(0x4B400000)  # 1.5 · 2²³: adding it rounds to an integer
_E0, _E1, _E2, _E3, _E4, _E5 = (
    f4(c) for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                    1.6666665459e-1, 5.0000001201e-1)
)  # fmt: skip
_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8 = (
    f4(c) for c in (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                    1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                    3.3333331174e-1)
)  # fmt: skip
_ROOT_HALF, _HALF, _ONE, _ZERO, _LEAST = f4(0.5**0.5), f4(0.5), f4(1), f4(0), f4(-87)
_GOLDEN, _MIX_1, _MIX_2 = u4(0x9E3779B9), u4(0x85EBCA6B), u4(0xC2B2AE35)


def _bitcast(source, result):
    @intrinsic
    def cast(context, x):
        def codegen(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], context.get_value_type(result))

        return result(source), codegen

    return cast


@inlined
def address_of(array):
    """Of its first element, in bytes; signed, since Numba adds an int64 and a uint64 as floats."""
    return i8(array.ctypes.data)


_bits, _float = _bitcast(types.float32, types.int32), _bitcast(types.int32, types.float32)


@inlined
def exp32(x):
    """e^x for x at most 1, from below −87 on e^−87: Cephes' expf."""
    x = _LEAST if x < _LEAST else x
    shifted = x * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = x - n * _LN2_HIGH
    r = r - n * _LN2_LOW
    y = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _E5
    y = y * r * r + r + _ONE
    exponent = i4(_bits(shifted) - _ROUND_BITS + i4(127))
    return y * _float(i4(exponent << i4(23)))


@inlined
def log32(x):
    """log x for normal positive x: Cephes' logf."""
    bits = _bits(x)
    exponent = i4((bits >> i4(23)) - i4(126))
    m = _float(i4((bits & i4(0x007FFFFF)) | i4(0x3F000000)))
    low = m < _ROOT_HALF
    exponent = i4(exponent - i4(1)) if low else exponent
    m = m + m - _ONE if low else m - _ONE
    square = m * m
    y = (((((((_L0 * m + _L1) * m + _L2) * m + _L3) * m + _L4) * m + _L5) * m + _L6) * m + _L7) * m
    y = (y + _L8) * m * square
    n = f4(exponent)
    y = y + n * _LN2_LOW
    y = y - _HALF * square
    return m + y + n * _LN2_HIGH


@inlined
def log1p32(u):
    """log(1 + u) for u from 0 to 1."""
    sum_ = _ONE + u
    rounded = sum_ - _ONE
    return u if rounded == _ZERO else log32(sum_) * (u / rounded)


@inlined
def logistic(x):
    """log(1 + e^x), σ(x) and σ(−x)."""
    u = exp32(-abs(x))
    larger = _ONE / (_ONE + u)
    smaller = u * larger
    above = x > _ZERO
    return (
        (x if above else _ZERO) + log1p32(u),
        larger if above else smaller,
        smaller if above else larger,
    )


@inlined
def mix(x):
    """Bits of an unsigned 32-bit integer, stirred: the end of MurmurHash3."""
    x = u4(u4(x ^ (x >> u4(16))) * _MIX_1)
    x = u4(u4(x ^ (x >> u4(13))) * _MIX_2)
    return u4(x ^ (x >> u4(16)))


@inlined
def dropped(key, unit, limit):
    """Whether dropout takes a unit: mix(key + 0x9E3779B9 · unit) < limit = ⌊rate · 2³²⌋.

    key = mix(mix(mix(seed ^ step) ^ layer) ^ row), all modulo 2³²: steps and hidden layers count
    from 1, rows of the batch and units from 0.
    """
    return mix(u4(key + u4(_GOLDEN * u4(unit)))) < limit
