"""A network's memory, and its passes as compiled functions: forward, backward with Adam, epochs.

Layer 0 is the input, the last one the output. Rows of values and weights are padded with zeros to
whole vectors, and their strides are odd numbers of cache lines, so that the rows of a panel spread
over the cache.
"""

from collections import namedtuple

import numpy as np

from .arithmetic import address_of, compiled, dropped, entry, f4, i8, mix, u4
from .gradients import mean_slopes
from .kernels import (
    KEEP,
    PAD,
    RELU,
    aligned,
    product_above,
    product_adam,
    product_mask,
    stride,
    transpose,
)

# Rows of `Memory.layout`, one column a layer. The last four are places, in floats: of the weights
# and the bias that lead to the next layer, of those weights transposed, of the layer's values (the
# inputs lie elsewhere).
UNITS, PADDED, STRIDE, WEIGHTS, BIAS, FLIPPED, VALUES = range(7)
ROWS = 256  # samples at a time where no training limits them

# layout (7, layers + 1); parameters (3, ·): weights and biases, and both moments; inputs (rows, ·),
# labels and weights (rows,) of a batch; values and slopes of all layers, (·,), and those of the
# last one (rows, ·); p, log_p, summed (rows, ·) and losses (rows,) to work with; clock (3,): steps,
# and the powers of Adam's two β
Memory = namedtuple(
    "Memory",
    "layout parameters flipped inputs labels weights values slopes logits logit_slopes p log_p "
    "summed losses clock",
)
Settings = namedtuple("Settings", "batch lr decay dropout seed shared_head")
STILL = Settings(0, 0.0, 0.0, 0.0, 0, False)  # for passes that train nothing


def allocate(units, batch=ROWS):
    """Memory for batches of a network with these layers, input and output among them."""
    layers, rows = len(units), max(batch, ROWS)
    layout = np.zeros((7, layers + 1), np.int64)
    for layer, count in enumerate(units):
        layout[:WEIGHTS, layer] = count, -(-count // PAD) * PAD, stride(count)
    for layer in range(layers - 1):
        row, following = layout[STRIDE, layer : layer + 2]
        layout[BIAS, layer] = layout[WEIGHTS, layer] + layout[PADDED, layer] * following
        layout[WEIGHTS, layer + 1] = layout[BIAS, layer] + following
        layout[FLIPPED, layer + 1] = layout[FLIPPED, layer] + layout[PADDED, layer + 1] * row
    layout[VALUES, 2:] = np.cumsum(rows * layout[STRIDE, 1:-1])
    values, slopes = aligned(2, layout[VALUES, layers])
    last = [part[layout[VALUES, layers - 1] :].reshape(rows, -1) for part in (values, slopes)]
    return Memory(
        layout,
        aligned(3, layout[WEIGHTS, layers - 1]),
        aligned(layout[FLIPPED, layers - 1]),
        np.zeros((rows, units[0]), np.float32),
        np.zeros(rows, np.int64),
        np.zeros(rows),
        values,
        slopes,
        *last,
        *aligned(3, rows, layout[STRIDE, layers - 1]),
        aligned(rows),
        np.array([0.0, 1.0, 1.0]),  # steps, and the powers of Adam's β
    )


def layers_of(parameters, layout):
    """Views of each layer's weights (inputs, outputs) and bias (outputs,) in flat parameters."""
    for layer in range(layout.shape[1] - 2):
        inputs, outputs = layout[UNITS, layer : layer + 2]
        rows = parameters[layout[WEIGHTS, layer] : layout[WEIGHTS, layer + 1]]
        rows = rows.reshape(-1, layout[STRIDE, layer + 1])
        yield rows[:inputs, :outputs], rows[-1, :outputs]


@entry
def forward(memory, X, logits, settings):
    """Fill the logits (rows, ·) of samples X (n, d), at most as many as memory has rows."""
    x, x_row, z, z_row, n = address_of(X), X.shape[1], address_of(logits), logits.shape[1], len(X)
    layout = memory.layout
    parameters, values = address_of(memory.parameters), address_of(memory.values)
    last = layout.shape[1] - 2
    for layer in range(last):
        weights, bias = (
            parameters + 4 * layout[WEIGHTS, layer],
            parameters + 4 * layout[BIAS, layer],
        )
        stride, padded, rates = layout[STRIDE, layer + 1], layout[PADDED, layer + 1], RELU
        h, h_row = values + 4 * layout[VALUES, layer + 1], stride
        if layer == last - 1:
            h, h_row, rates = z, z_row, KEEP
        product_above(x, x_row, 1, weights, stride, h, h_row, n, padded, layout[UNITS, layer],
                      bias, 0, 1, rates)  # fmt: skip
        x, x_row = h, h_row
        if settings.dropout > 0 and layer < last - 1:
            _drop(memory, layer + 1, n, settings)


@compiled
def _drop(memory, layer, n, settings):
    """Dropout of a hidden layer's values."""
    stride = memory.layout[STRIDE, layer]
    limit, factor = u4(settings.dropout * 4294967296.0), f4(1 / (1 - settings.dropout))
    key = mix(u4(mix(u4(settings.seed) ^ u4(memory.clock[0] + 1)) ^ u4(layer)))
    for i in range(n):
        row, at = mix(u4(key ^ u4(i))), memory.layout[VALUES, layer] + i * stride
        for k in range(memory.layout[UNITS, layer]):
            h = memory.values[at + k] * factor
            memory.values[at + k] = f4(0) if dropped(row, k, limit) else h


@entry
def end_step(memory, X, settings):
    """Adam's step from the slopes at the logits of samples X (n, ·)."""
    layout, clock = memory.layout, memory.clock
    parameters, flipped = address_of(memory.parameters), address_of(memory.flipped)
    values, slopes, ones = (
        address_of(memory.values), address_of(memory.slopes), address_of(memory.p)
    )  # fmt: skip
    gap = 4 * memory.parameters.shape[1]  # from a weight to its moments
    clock[0] += 1
    clock[1] *= 0.9
    clock[2] *= 0.999
    rate = settings.lr * 0.1 / (1 - clock[1])
    rates = f4(np.sqrt(0.001 / (1 - clock[2])) / rate), f4(1e-8 / rate), f4(settings.decay)
    zero, nothing, n = (f4(0), f4(0), f4(0)), i8(0), len(X)  # a literal has a type of its own
    memory.p[0, 0] = 1  # the bias is the weight of a value that is always 1
    last = layout.shape[1] - 2
    for layer in range(last - 1, -1, -1):
        units, padded = layout[UNITS, layer], layout[PADDED, layer + 1]
        stride, stride_above = layout[STRIDE, layer], layout[STRIDE, layer + 1]
        h, d = values + 4 * layout[VALUES, layer], slopes + 4 * layout[VALUES, layer + 1]
        if layer == 0:
            h, stride = address_of(X), X.shape[1]
        else:
            product_mask(d, stride_above, 1, flipped + 4 * layout[FLIPPED, layer], stride,
                         slopes + 4 * layout[VALUES, layer], stride, n, layout[PADDED, layer],
                         layout[UNITS, layer + 1], h, stride, 1, zero)  # fmt: skip
            if settings.dropout > 0:
                factor = f4(1 / (1 - settings.dropout))
                for at in range(layout[VALUES, layer], layout[VALUES, layer] + n * stride):
                    memory.slopes[at] *= factor
        product_adam(ones, nothing, nothing, d, stride_above,
                     parameters + 4 * layout[BIAS, layer], stride_above, i8(1), padded, n,
                     gap, 0, 0, rates)  # fmt: skip
        if settings.shared_head and layer == last - 1:
            d = _summed(memory, n)
        product_adam(h, i8(1), stride, d, stride_above, parameters + 4 * layout[WEIGHTS, layer],
                     stride_above, units, padded, n, gap, 0, 0, rates)  # fmt: skip
    prepare(memory)


@compiled
def _summed(memory, n):
    """Address of slopes whose rows repeat the sum of those at the logits: CORAL's one column."""
    outputs = memory.layout[UNITS, memory.layout.shape[1] - 2]
    for i in range(n):
        total = f4(0)
        for k in range(outputs):
            total += memory.logit_slopes[i, k]
        for k in range(outputs):
            memory.summed[i, k] = total
    return address_of(memory.summed)


@entry
def prepare(memory):
    """Transpose the weights behind the first layer for the next step back."""
    layout = memory.layout
    for layer in range(1, layout.shape[1] - 2):
        weights = address_of(memory.parameters) + 4 * layout[WEIGHTS, layer]
        flipped = address_of(memory.flipped) + 4 * layout[FLIPPED, layer]
        m, n = layout[PADDED, layer : layer + 2]
        transpose(weights, layout[STRIDE, layer + 1], flipped, layout[STRIDE, layer], m, n)


@entry
def epoch(memory, kind, formula, X, y, w, order, settings):
    """All steps of an epoch with a compiled loss, on samples in the given order.

    Gives the mean loss of the samples, each before its step.
    """
    value, total = 0.0, 0.0
    for start in range(0, len(order), settings.batch):
        n = min(settings.batch, len(order) - start)
        for i in range(n):
            at = order[start + i]
            memory.labels[i], memory.weights[i] = y[at], w[at]
            for k in range(X.shape[1]):
                memory.inputs[i, k] = X[at, k]
        chosen = memory.inputs[:n]
        forward(memory, chosen, memory.logits, settings)
        part = mean_slopes(kind, formula, memory.logits, memory.labels[:n], memory.weights[:n],
                           memory.p, memory.log_p, memory.losses, memory.logit_slopes)  # fmt: skip
        end_step(memory, chosen, settings)
        value += part[0]
        total += part[1]
    return value / total


def evaluate(memory, X):
    """Logits (n, ·) of samples X (n, d), the rows padded."""
    logits = aligned(len(X), memory.layout[STRIDE, -2])
    for start in range(0, len(X), ROWS):
        part = slice(start, start + ROWS)
        forward(memory, X[part], logits[part], STILL)
    return logits
