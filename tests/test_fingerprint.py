"""Digests of losses: one thing changed at a time, of every kind, and each gets a new key."""

import functools
import importlib
import os
import subprocess
import sys
import textwrap
import warnings
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from amol.losses import LOSSES
from companion.train.fingerprint import Unsure, fingerprint

Pair = namedtuple("Pair", "low high")


class State:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Grade(int):
    pass


# Makers of a value from a number: the same number, the same digest; another number, another one.
KINDS = {
    "int": int,
    "bool": lambda n: n % 2 == 0,
    "float": float,
    "complex": lambda n: complex(n, 1),
    "text": str,
    "bytes": lambda n: str(n).encode(),
    "decimal": Decimal,
    "fraction": lambda n: Fraction(n, 7),
    "number of a class": Grade,
    "path": lambda n: Path(str(n)),
    "slice": lambda n: slice(n),
    "list": lambda n: [0, n],
    "nested": lambda n: {"a": [{"b": (0, [n])}]},
    "tuple": lambda n: (0, n),
    "named tuple": lambda n: Pair(0, n),
    "set": lambda n: {0, n + 1},
    "frozenset": lambda n: frozenset([0, n + 1]),
    "deque": lambda n: deque([n]),
    "dict value": lambda n: {"a": n},
    "dict key": lambda n: {n: "a"},
    "ordered dict": lambda n: OrderedDict(a=n),
    "default dict": lambda n: defaultdict(list, a=n),
    "default factory": lambda n: defaultdict(lambda: n),
    "counter": lambda n: Counter(a=n + 1),
    "namespace": lambda n: SimpleNamespace(a=n),
    "array": lambda n: np.array([0, n]),
    "array's type": lambda n: np.zeros(2, dtype=f"f{2 ** (1 + n % 3)}"),
    "array's shape": lambda n: np.zeros((n + 1, 2)),
    "strided array": lambda n: np.arange(10)[n % 2 :: 2],
    "array of objects": lambda n: np.array([None, n], dtype=object),
    "NumPy scalar": np.float32,
    "tensor": lambda n: torch.tensor([0.0, n]),
    "bfloat16 tensor": lambda n: torch.tensor([0.0, n % 100], dtype=torch.bfloat16),
    "tensor of eight bits": lambda n: torch.tensor([0.0, n]).to(torch.float8_e5m2),
    "sparse tensor": lambda n: torch.tensor([0.0, n]).to_sparse(),
    "compressed tensor": lambda n: torch.tensor([[0.0, n]]).to_sparse_csr(),
    "tensor of complex numbers": lambda n: torch.tensor([1 + n * 1j]).conj(),
    "tensor of one number": lambda n: torch.tensor(n),
    "tensor's shape": lambda n: torch.zeros(n + 1, 2),
    "parameter": lambda n: torch.nn.Parameter(torch.tensor([float(n)])),
    "module": lambda n: torch.nn.PReLU(init=n),
    "series": lambda n: pd.Series([0, n], name="a"),
    "series' index": lambda n: pd.Series([0, 1], index=[0, n + 1]),
    "frame": lambda n: pd.DataFrame({"a": [n]}),
    "categorical": lambda n: pd.Series(pd.Categorical([str(n)])),
    "object": State,
    "object with slots": Slotted,
    "object in an object": lambda n: State(Slotted([n])),
    "partial": lambda n: functools.partial(max, n),
    "partial's keyword": lambda n: functools.partial(max, default=n),
    "bound method": lambda n: State(n).__init__,
    "method of a list": lambda n: [n].count,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_value_of_every_kind_is_seen(kind):
    make = KINDS[kind]
    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))


@settings(deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 60), st.integers(0, 60))
def test_digests_are_equal_exactly_where_values_are(kind, one, other):
    make = KINDS[kind]
    same = {"bool": one % 2 == other % 2, "array's type": one % 3 == other % 3,
            "strided array": one % 2 == other % 2, "set": one == other,
            "tensor of eight bits": torch.tensor(float(one)).to(torch.float8_e5m2)
            == torch.tensor(float(other)).to(torch.float8_e5m2)}  # fmt: skip
    assert (fingerprint(make(one)) == fingerprint(make(other))) == same.get(kind, one == other)


SAMPLE = '''
import helper
from helper import WEIGHTS, scale
import torch

COST = [[0, 1], [1, 0]]
TABLE = torch.ones(2)

def decorated(function):
    def inner(*arguments):
        return 2 * function(*arguments)
    return inner

@decorated
def plus(x, shift=1):
    return x + shift

def closed(strength):
    return lambda x: x * strength

stronger = closed(3)

class Settings:
    power = 2
    def __init__(self):
        self.rate = 0.5
    @property
    def half(self):
        return self.rate / 2
    @staticmethod
    def third(x):
        return x / 3

settings = Settings()

def loss(logits, target):
    """Says."""
    cost = COST[0]  # why
    total = plus(logits) * helper.FACTOR + scale(logits) + TABLE * WEIGHTS["a"]
    from local import LATE
    return total + stronger(logits) + settings.half ** Settings.power + LATE + cost + 5

def apart(x):
    return x
'''
HELPER = "FACTOR = 2\nWEIGHTS = {'a': 1}\nUNUSED = 3\ndef scale(x):\n    return deeper(x) * 4\n"
HELPER += "def deeper(x):\n    return x - 7\n"
LOCAL = "LATE = 1\n"


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Digest of the sample's loss, after replacing text in its three files, in a new process."""

    def made(old="", new=""):
        for name, text in (("sample", SAMPLE), ("helper", HELPER), ("local", LOCAL)):
            (tmp_path / f"{name}.py").write_text(text.replace(old, new) if old else text)
        program = "import sample; from companion.train.fingerprint import fingerprint as f\n"
        program += "print(f(sample.loss))"
        paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1])])
        variables = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=variables)

    return lambda *change: made(*change).stdout


CHANGES = [
    ("[[0, 1]", "[[0, 2]"), ("torch.ones(2)", "torch.zeros(2)"), ("return 2 *", "return 3 *"),
    ("shift=1", "shift=2"), ("closed(3)", "closed(4)"), ("x * strength", "x / strength"),
    ("power = 2", "power = 3"), ("self.rate = 0.5", "self.rate = 0.6"), ("rate / 2", "rate / 3"),
    ("FACTOR = 2", "FACTOR = 3"), ("{'a': 1}", "{'a': 2}"), ("* 4", "* 5"), ("x - 7", "x - 8"),
    ("LATE = 1", "LATE = 2"), ("+ 5", "+ 6"), ("COST[0]", "COST[1]"), ("@decorated\n", ""),
]  # fmt: skip
NO_CHANGES = [
    ("# why", "# for another reason"), ('"""Says."""', '"""Says more."""'),
    ("total = plus", "\n    total  =  plus"), ("UNUSED = 3", "UNUSED = 4"),
    ("return x\n", "return -x\n"),
]  # fmt: skip


@pytest.mark.slow
def test_changes_of_code_are_seen_and_comments_are_not(digest):
    first = digest()
    assert digest() == first
    assert {change: digest(*change) == first for change in CHANGES} == dict.fromkeys(CHANGES, False)
    assert {c: digest(*c) == first for c in NO_CHANGES} == dict.fromkeys(NO_CHANGES, True)


def define(text, **scope):
    exec(textwrap.dedent(text), scope)
    return scope


def test_a_global_changed_within_a_session_is_seen():
    scope = define("def loss(logits):\n    return COST[logits]", COST=[1, 2], __name__="__main__")
    before = fingerprint(scope["loss"])
    scope["COST"][1] = 3
    assert fingerprint(scope["loss"]) != before
    scope["COST"] = [1, 2]
    assert fingerprint(scope["loss"]) == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def loss(x):\n    return x * float(open('a').read())", "loss calls open"),
        ("def loss(x):\n    return eval('x')", "loss calls eval"),
        ("def loss(x):\n    return np.loadtxt('a')", "loss calls loadtxt"),
        ("def loss(x):\n    return numbers(x)", "generator"),
        ("def loss(x):\n    return rng.normal()", "Generator"),
        ("def loss(x):\n    import not_there\n    return x", "not_there"),
        ("def loss(x):\n    return np.geterr()['divide']", r"the answer of geterr\(\)"),
        ("def loss(x):\n    return (lambda: np.getbufsize())()", "the answer of getbufsize"),
        ("def loss(x):\n    import platform\n    return platform.system()", "answer of system"),
        (
            "def loss(x):\n    from sys import getrecursionlimit\n    return getrecursionlimit()",
            "the answer of getrecursionlimit",
        ),
        ("def loss(x):\n    import locale\n    return locale.atof('1,5')", "the module locale"),
        ("def loss(x):\n    return count()", "the answer of count"),
        ("def loss(x):\n    return said('A')", "the answer of getenv"),
        ("def loss(x):\n    return file.readline()", "an open file"),
    ],
)
def test_what_cannot_be_read_for_sure_is_said(text, says):
    given_ = {"np": np, "numbers": (n for n in range(3)), "rng": np.random.default_rng(0)}
    given_ |= {"count": os.cpu_count, "said": os.getenv}  # under names of their own
    with open(__file__) as file, pytest.raises(Unsure, match=says):
        fingerprint(define(text, __name__="__main__", file=file, **given_)["loss"])


@pytest.mark.parametrize(
    ("read", "change"),
    [
        ("warnings.filters", lambda patch: patch.setattr(warnings, "filters", [])),
        ("sys.flags.optimize", lambda patch: patch.setattr(sys, "flags", (0, 1))),
        ("sys.path", lambda patch: patch.syspath_prepend("/elsewhere")),
        ("around['A']", lambda patch: patch.setenv("A", "2")),
        ("torch.get_num_threads()", None),  # a study sets what PyTorch says
        ("x.mean() + torch.pi + np.float64(x.sum()) + torch.ones(2, dtype=torch.float64)", None),
    ],
)
def test_data_of_a_library_count_by_their_value(monkeypatch, read, change):
    given_ = {"np": np, "sys": sys, "torch": torch, "warnings": warnings, "around": os.environ}
    loss = define(f"def loss(x):\n    return {read}", __name__="__main__", **given_)["loss"]
    before = fingerprint(loss)
    with monkeypatch.context() as patch:
        if change:
            change(patch)
        assert (fingerprint(loss) != before) == bool(change)
    assert fingerprint(loss) == before


def test_a_member_named_at_run_time_is_not_read_for_sure(tmp_path, monkeypatch):
    (tmp_path / "dynamic.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    scope = define(
        "import dynamic\ndef loss(x):\n    return getattr(dynamic, 'A')", __name__="__main__"
    )
    with pytest.raises(Unsure, match="named at run time"):
        fingerprint(scope["loss"])
    importlib.invalidate_caches()


def test_a_function_called_as_its_module_is_read(tmp_path, monkeypatch):
    package = tmp_path / "nested"
    package.mkdir()
    (package / "__init__.py").write_text("from nested import cost\n")
    (package / "cost.py").write_text("import nested\ndef cost(x):\n    return x + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = "import nested\ndef loss(x):\n    return nested.cost.cost(x)"
    scope = define(text, __name__="__main__")
    before = fingerprint(scope["loss"])
    exec("def cost(x):\n    return x + 2", vars(scope["nested"].cost))
    assert fingerprint(scope["loss"]) != before


def test_what_a_user_sets_in_builtins_or_in_a_library_is_seen(monkeypatch):
    text = "def loss(x):\n    return x * STRENGTH + torch.nn.functional.strength"
    scope = define(text, torch=torch, __name__="__main__")
    digests = set()
    for first, second in ((1.0, 1.0), (2.0, 1.0), (1.0, 2.0)):
        monkeypatch.setattr("builtins.STRENGTH", first, raising=False)
        monkeypatch.setattr(torch.nn.functional, "strength", second, raising=False)
        digests.add(fingerprint(scope["loss"]))
    assert len(digests) == 3


def test_a_function_of_the_users_in_place_of_a_librarys_is_seen(monkeypatch):
    scope = define("def loss(x):\n    return torch.softmax(x)", torch=torch, __name__="__main__")
    before = fingerprint(scope["loss"])
    monkeypatch.setattr(
        torch, "softmax", define("def own(x):\n    return x", __name__="own")["own"]
    )
    assert fingerprint(scope["loss"]) != before


def test_a_tensor_that_cannot_be_read_is_said():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(Unsure, match="a tensor of"):
        fingerprint(nested)


def test_objects_that_hold_one_another_are_read():
    one, other = State(1), State(2)
    one.other, other.other = other, one
    before = fingerprint(one)
    other.value = 3
    assert fingerprint(one) != before


@pytest.mark.parametrize("method", LOSSES)
def test_each_loss_has_a_digest_of_its_own_that_its_parameters_change(method):
    def made(**parameters):
        return fingerprint(LOSSES[method](num_classes=5, **parameters))

    assert made() == made() and made() != made(weight=[1, 2, 1, 1, 1])
