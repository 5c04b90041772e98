"""Compiled functions that are called by address: each is compiled alone, when it is asked for.

A function that is called by name is compiled again within each caller, and a choice among names
compiles all of them.
"""

import threading
from functools import cache

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

from .cache import kept_machine_code

_row, _rows = types.float32[::1], types.float32[:, ::1]
_labels, _tables, _count = types.int64[::1], types.float32[:, :, ::1], types.int64
# z, y, tables, outputs, p, log_p, values, slopes; see `kinds`
KIND = types.void(_rows, _labels, _tables, _count, _rows, _rows, _row, _rows)
# z, without, probabilities, labels; see `meanings`
MEANING = types.void(_rows, _count, _rows, _labels)


_lock = threading.Lock()  # Numba's setting is one for all threads


@cache
def _made(function, signature):
    with _lock, kept_machine_code() as kept:
        return cfunc(signature, cache=kept, error_model="numpy")(function.py_func)


def address(function, signature) -> int:
    """Of a compiled function with this signature; it is compiled, or loaded, on the first call."""
    return _made(function, signature).address


def _call(signature):
    def codegen(context, builder, full, arguments):
        kinds = [context.get_value_type(kind) for kind in signature.args]
        function = ir.FunctionType(context.get_value_type(types.none), kinds)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.intp, *signature.args), codegen


@intrinsic
def call_kind(context, address, z, y, tables, outputs, p, log_p, values, slopes):
    """Call the kind at an address."""
    return _call(KIND)


@intrinsic
def call_meaning(context, address, z, without, probabilities, labels):
    """Call the meaning at an address."""
    return _call(MEANING)
