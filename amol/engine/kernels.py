"""Matrix products of small networks, written as vectors of LLVM.

Each element of a product is one chain of fused multiply-adds over its steps, in order, and
whatever follows is one operation on that element. So its bits depend neither on the width of the
processor's vectors nor on the size of the tiles, which may be chosen freely.

Addresses are in bytes, strides in floats. Rows of b, c and x start at multiples of 64 bytes; their
lengths are padded to multiples of `PAD` floats.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from .arithmetic import compiled, f4

PAD = 16
FLOAT, INT, LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)

_features = cpu_target.target_context.codegen().magic_tuple()[2]  # Numba's cache is keyed by them
WIDTH = 16 if "+avx512f" in _features else 8 if "+avx" in _features else 4  # floats in a vector
VECTOR = ir.VectorType(FLOAT, WIDTH)
# Vectors and rows of tiles that fill the registers: for most columns and for the last `PAD`; and
# for the rows that are left, most columns in as many chains of sums as hide an operation's latency.
TILES = {
    16: ((2, 8), (1, 8), (8, 1), (1, 1)),
    8: ((2, 4), (2, 4), (8, 1), (2, 1)),
    4: ((4, 4), (4, 4), (8, 1), (4, 1)),
}[WIDTH]


def stride(n):
    """Floats from row to row of n: an odd number of cache lines, to spread over the cache."""
    return (-(-n // PAD) | 1) * PAD


def aligned(*shape):
    """Zeros (..., n) float32 from a multiple of 64 bytes on."""
    count = int(np.prod(shape))
    raw = np.zeros(count + PAD, f4)
    start = -raw.ctypes.data % (4 * PAD) // 4
    return raw[start : start + count].reshape(shape)


def _constant(value):
    return ir.Constant(VECTOR, [value] * WIDTH)


class _Code(ir.IRBuilder):
    """Builder of vector code."""

    def at(self, base, rows, stride, column=0):
        """Address of row ``rows`` and a column, from a base."""
        moved = self.add(self.mul(stride, ir.Constant(INT, rows)), ir.Constant(INT, column))
        return self.add(base, self.mul(moved, ir.Constant(INT, 4)))

    def vector(self, address):
        return self.load(self.inttoptr(address, VECTOR.as_pointer()), align=4 * WIDTH, typ=VECTOR)

    def put(self, value, address):
        self.store(value, self.inttoptr(address, VECTOR.as_pointer()), align=4 * WIDTH)

    def scalar(self, address):
        return self.load(self.inttoptr(address, FLOAT.as_pointer()), align=4, typ=FLOAT)

    def splat(self, value):
        none = ir.Constant(VECTOR, ir.Undefined)
        first = self.insert_element(none, value, ir.Constant(LANE, 0))
        return self.shuffle(first, none, [0] * WIDTH)

    def shuffle(self, one, other, picks):
        picks = ir.Constant(ir.VectorType(LANE, WIDTH), picks)
        return self.shuffle_vector(one, other, picks)

    def apply(self, name, *values):
        """Call of an LLVM operation such as fma on vectors."""
        name = f"llvm.{name}.v{WIDTH}f32"
        kind = ir.FunctionType(VECTOR, [VECTOR] * len(values))
        found = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.call(found, values)

    def zero_where(self, test, value, limit, other):
        """0 where ``value`` compares so with ``limit``, else ``other``; not a number never does."""
        return self.select(self.fcmp_ordered(test, value, limit), _constant(0.0), other)


def _above(code, y, c, x, rates):
    """What is above a limit: 0 makes it a ReLU, not a number keeps everything."""
    code.put(code.zero_where("<=", y, rates[0], y), c)


def _mask(code, y, c, x, rates):
    code.put(code.zero_where("<=", code.vector(x), _constant(0.0), y), c)


def _adam(code, y, c, gap, rates):
    """Adam's update of the weights at c; its moments lie one and two gaps behind them."""
    scale, epsilon, decay = rates
    m_at = code.add(c, gap)
    v_at = code.add(m_at, gap)
    w = code.vector(c)
    g = code.apply("fma", decay, w, y)
    m = code.apply("fma", _constant(0.9), code.vector(m_at), g)
    m = code.zero_where("<", code.apply("fabs", m), _constant(1e-30), m)
    v = code.apply("fma", g, g, _constant(1e-30))
    v = code.apply("fma", _constant(0.999), code.vector(v_at), v)
    code.put(m, m_at)
    code.put(v, v_at)
    below = code.apply("fma", code.apply("sqrt", v), scale, epsilon)
    code.put(code.fsub(w, code.fdiv(m, below)), c)


def _tile(function, vectors, rows, ending, from_x):
    """c (rows, vectors) = a (rows, steps) @ b (steps, vectors), begun at 0 or at the row x."""
    a, a_row, a_step, b, b_step, c, c_row, steps, x, x_row, *rates = function.args
    entry, loop, done = (function.append_basic_block(name) for name in ("entry", "loop", "done"))
    columns = [v * WIDTH for v in range(vectors)]
    code = _Code(entry)
    start = [code.vector(code.at(x, 0, x_row, v)) if from_x else _constant(0.0) for v in columns]
    ahead = [code.at(ir.Constant(INT, 0), r, a_row) for r in range(rows)]
    strides = [code.mul(stride, ir.Constant(INT, 4)) for stride in (a_step, b_step)]
    rates = [code.splat(rate) for rate in rates]
    code.branch(loop)

    code.position_at_end(loop)
    before = [ir.Constant(INT, 0), a, b, *start * rows]
    step, a_at, b_at, *sums = carried = [code.phi(value.type) for value in before]
    row = [code.vector(code.add(b_at, ir.Constant(INT, 4 * v))) for v in columns]
    for r in range(rows):
        factor = code.splat(code.scalar(code.add(a_at, ahead[r])))
        for v in range(vectors):
            at = r * vectors + v
            sums[at] = code.apply("fma", factor, row[v], sums[at])
    step = code.add(step, ir.Constant(INT, 1))
    a_at, b_at = (code.add(at, stride) for at, stride in zip((a_at, b_at), strides, strict=True))
    for phi, first, again in zip(carried, before, [step, a_at, b_at, *sums], strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(again, loop)
    code.cbranch(code.icmp_signed("<", step, steps), loop, done)

    code.position_at_end(done)
    for at, y in enumerate(sums):
        place = at // vectors, at % vectors * WIDTH
        beside = x if ending is _adam else code.at(x, place[0], x_row, place[1])
        ending(code, y, code.at(c, place[0], c_row, place[1]), beside, rates)
    code.ret_void()


def _define(builder, name, kinds, write):
    """The module's own function of that name, written on first use."""
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), kinds)
        function = ir.Function(builder.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        write(function)
    return function


def _kernel(vectors, rows, ending, from_x):
    def codegen(context, builder, signature, arguments):
        name, kinds = f"tile{ending.__name__}_{vectors}_{rows}_{from_x}", [INT] * 10 + [FLOAT] * 3
        write = lambda function: _tile(function, vectors, rows, ending, from_x)  # noqa: E731
        builder.call(_define(builder, name, kinds, write), arguments)
        return context.get_dummy_value()

    signature = types.void(*[types.intp] * 10, *[types.float32] * 3)

    @intrinsic
    def call(context, a, a_row, a_step, b, b_step, c, c_row, steps, x, x_row, scale, eps, decay):
        return signature, codegen

    return call


def _product(ending, from_x=False):
    """c (m, n) = a (m, steps) @ b (steps, n), the rows and columns of a at any strides.

    x moves along with c by ``x_row`` floats a row and ``x_column`` a column; ``ending`` says what
    it is for, and for ``rates``.
    """
    wide, narrow, long, short = (_kernel(*tile, ending, from_x) for tile in TILES)
    rows = TILES[0][1]
    wide_step, narrow_step, long_step, short_step = (vectors * WIDTH for vectors, _ in TILES)

    @compiled
    def product(a, a_row, a_step, b, b_step, c, c_row, m, n, steps, x, x_row, x_column, rates):
        scale, eps, decay = rates
        m_whole, n_wide, n_long = m - m % rows, n - n % wide_step, n - n % long_step
        for j in range(0, n_wide, wide_step):
            for i in range(0, m_whole, rows):
                wide(a + 4 * i * a_row, a_row, a_step, b + 4 * j, b_step,
                     c + 4 * (i * c_row + j), c_row, steps,
                     x + 4 * (i * x_row + j * x_column), x_row, scale, eps, decay)  # fmt: skip
        for j in range(n_wide, n, narrow_step):
            for i in range(0, m_whole, rows):
                narrow(a + 4 * i * a_row, a_row, a_step, b + 4 * j, b_step,
                       c + 4 * (i * c_row + j), c_row, steps,
                       x + 4 * (i * x_row + j * x_column), x_row, scale, eps, decay)  # fmt: skip
        for i in range(m_whole, m):
            for j in range(0, n_long, long_step):
                long(a + 4 * i * a_row, a_row, a_step, b + 4 * j, b_step,
                     c + 4 * (i * c_row + j), c_row, steps,
                     x + 4 * (i * x_row + j * x_column), x_row, scale, eps, decay)  # fmt: skip
            for j in range(n_long, n, short_step):
                short(a + 4 * i * a_row, a_row, a_step, b + 4 * j, b_step,
                      c + 4 * (i * c_row + j), c_row, steps,
                      x + 4 * (i * x_row + j * x_column), x_row, scale, eps, decay)  # fmt: skip

    return product


product_above, product_mask, product_adam = (
    _product(_above, from_x=True), _product(_mask), _product(_adam)
)  # fmt: skip
RELU, KEEP = ((f4(limit), f4(0), f4(0)) for limit in (0, np.nan))  # rates of `product_above`


def _transposed(function):
    """b (WIDTH, WIDTH) = a transposed: the off-diagonal halves of growing squares are exchanged."""
    a, a_row, b, b_row = function.args
    code = _Code(function.append_basic_block("entry"))
    rows = [code.vector(code.at(a, r, a_row)) for r in range(WIDTH)]
    size = 1
    while size < WIDTH:
        low = [k if not k & size else WIDTH + k - size for k in range(WIDTH)]
        high = [k + size if not k & size else WIDTH + k for k in range(WIDTH)]
        for r in range(WIDTH):
            if not r & size:
                pair = rows[r], rows[r + size]
                rows[r], rows[r + size] = code.shuffle(*pair, low), code.shuffle(*pair, high)
        size *= 2
    for r, row in enumerate(rows):
        code.put(row, code.at(b, r, b_row))
    code.ret_void()


@intrinsic
def _transpose_tile(context, a, a_row, b, b_row):
    def codegen(context, builder, signature, arguments):
        builder.call(_define(builder, "transposed", [INT] * 4, _transposed), arguments)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4), codegen


@compiled
def transpose(a, a_row, b, b_row, m, n):
    """b (n, m) = a (m, n) transposed; m and n are multiples of `PAD`."""
    for i in range(0, m, WIDTH):
        for j in range(0, n, WIDTH):
            _transpose_tile(a + 4 * (i * a_row + j), a_row, b + 4 * (j * b_row + i), b_row)
