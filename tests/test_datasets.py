"""The data files are the recorded ones, and the protocol's split and scaling do what they say."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from companion.data import datasets
from companion.data.collection import descriptions
from companion.data.dataset import (
    SPLIT_ORDERS,
    DataError,
    Dataset,
    divide,
    duplicate_rows,
    merge_rare_classes,
    network_features,
    split,
    standardize,
    twin_share,
)
from companion.data.datasets import ABALONE_VARIANTS, DATASETS, MORE_DATASETS, load_dataset

# rows, features, class counts, class names at both ends, repeated rows
FACTS = {
    "Synthetic": (5000, 10, [250, 500, 900, 1700, 900, 500, 250], ("0", "6"), 0),
    "Wine Red": (1599, 11, [10, 53, 681, 638, 199, 18], ("3", "8"), 240),
    "Wine White": (4898, 11, [20, 163, 1457, 2198, 880, 175, 5], ("3", "9"), 937),
    "Abalone": (4177, 10, [839, 568, 689, 634, 487, 470, 490], ("1–7", "14–29"), 0),
    "ERA": (1000, 4, [92, 142, 181, 172, 158, 118, 88, 31, 18], ("1", "9"), 732),
    "ESL": (488, 4, [52, 100, 116, 135, 62, 23], ("1–3", "8–9"), 229),
    "LEV": (1000, 4, [93, 280, 403, 197, 27], ("1", "5"), 757),
    "SWD": (1000, 10, [32, 352, 399, 217], ("1", "4"), 720),
    "Balance scale": (625, 4, [288, 49, 288], ("L", "R"), 0),
    "ANES 1996": (
        944,
        9,
        [200, 180, 108, 37, 94, 150, 175],
        ("strong Democrat", "strong Republican"),
        1,
    ),
}
DIGESTS = {
    "Wine Red": "544dad6b0d63c6d1ed29898ab0b3611c9aa370c3aaf799ea94be5a4b0d8c2787",
    "Wine White": "56036aa5f3c8a249e613fd22c4f94ac49ca4bf5479cf58dfda0125661f6cadcf",
    "Abalone": "b42a5dd95fda0801e4535d86983ed987bd8c9d4b347e9b185db3d7eb90bc5091",
}


def tiny(X, y) -> Dataset:
    return Dataset("tiny", np.array(X, float), np.array(y), ("a",), ("0", "1"), "made up")


@pytest.mark.parametrize("name", FACTS)
def test_facts(name):
    rows, features, counts, ends, repeated = FACTS[name]
    data = load_dataset(name)
    assert data.X.shape == (rows, features) and data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.y.dtype == np.int64
    assert np.bincount(data.y).tolist() == counts
    assert data.num_classes == len(counts) == len(data.class_names)
    assert (data.class_names[0], data.class_names[-1]) == ends
    assert len(data.feature_names) == features
    assert duplicate_rows(data) == repeated


@pytest.mark.parametrize("name", DIGESTS)
def test_digest_is_the_recorded_one(name):
    assert load_dataset(name).digest == DIGESTS[name]


def test_first_rows():
    red, abalone = load_dataset("Wine Red"), load_dataset("Abalone")
    assert red.X[0].tolist() == [7.4, 0.7, 0, 1.9, 0.076, 11, 34, 0.9978, 3.51, 0.56, 9.4]
    assert red.y[0] == 2  # quality 5
    assert abalone.X[0].tolist() == [0, 0, 1, 0.455, 0.365, 0.095, 0.514, 0.2245, 0.101, 0.15]
    assert abalone.y[0] == 6  # 15 rings
    assert (abalone.X[:, :3].sum(axis=1) == 1).all()


def test_synthetic_bytes_do_not_depend_on_the_machine(monkeypatch):
    monkeypatch.setattr(datasets, "SYNTHETIC_NOISE", 0.5)
    assert load_dataset("Synthetic").digest == (
        "e873b70b4b1a9719ac3fe5aca98ddbdeabbbd855da7a66ec6b98e949da8012f1"
    )


def test_digest_sees_every_value():
    digests = {tiny([[1.0], [2.0]], [0, 1]).digest, tiny([[1.0], [2.5]], [0, 1]).digest}
    digests.add(tiny([[1.0], [2.0]], [1, 1]).digest)
    assert len(digests) == 3


def test_more_sets_are_no_default_and_have_a_center():
    assert set(FACTS) == {*DATASETS, *MORE_DATASETS} and not set(DATASETS) & set(MORE_DATASETS)
    middle = [load_dataset(name).class_names for name in ("ANES 1996", "Balance scale")]
    assert [names[len(names) // 2] for names in middle] == ["Independent", "B"]
    balance = load_dataset("Balance scale")
    torque = balance.X[:, 0] * balance.X[:, 1] - balance.X[:, 2] * balance.X[:, 3]
    assert (balance.y == 1 - np.sign(torque)).all()  # the left side heavier: L, the lowest


def test_unknown_name():
    with pytest.raises(ValueError, match=r"'wine'.*Synthetic, Wine Red, .*Abalone, .*ERA"):
        load_dataset("wine")


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    shutil.copytree(datasets.DATA, tmp_path / "data")
    monkeypatch.setattr(datasets, "DATA", tmp_path / "data")
    return tmp_path / "data"


def test_changed_file(copied_data):
    path = copied_data / "abalone.data"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(ValueError, match=r"abalone\.data was changed"):
        load_dataset("Abalone")


def test_missing_file(copied_data):
    (copied_data / "winequality-red.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"winequality-red\.csv is missing.*abalone\.data"):
        load_dataset("Wine Red")


@pytest.mark.parametrize("order", SPLIT_ORDERS)
@pytest.mark.parametrize("name", DATASETS)
def test_split_is_stratified_and_complete(name, order):
    y = load_dataset(name).y
    parts = split(y, 42, order)
    assert sorted(np.concatenate(parts)) == list(range(len(y)))
    counts = np.bincount(y)
    for part, portion in zip(parts, (0.6, 0.2, 0.2), strict=True):
        assert abs(len(part) - portion * len(y)) <= 2
        assert np.abs(np.bincount(y[part], minlength=len(counts)) - portion * counts).max() < 2


def test_split_seed_decides():
    y = load_dataset("Wine Red").y
    assert all(np.array_equal(a, b) for a, b in zip(split(y, 1), split(y, 1), strict=True))
    assert not np.array_equal(split(y, 1)[2], split(y, 2)[2])


def test_outermost_test_samples_match_the_paper():
    counts = {}
    for name in ("Abalone", "Wine Red"):
        data = load_dataset(name)
        y_test = data.y[split(data.y, 42)[2]]
        counts[name] = int(((y_test == 0) | (y_test == data.num_classes - 1)).sum())
    assert counts == {"Abalone": 266, "Wine Red": 5}


def test_split_orders_differ():
    y = load_dataset("Wine Red").y
    first, halves = (set(split(y, 42, order)[2]) for order in SPLIT_ORDERS)
    assert first != halves


def test_encodings_of_sex():
    base = load_dataset("Abalone")
    number, without = (load_dataset(name) for name in ABALONE_VARIANTS)
    assert number.X[:3, 0].tolist() == [2, 2, 0]  # M, M, F
    assert number.X.shape == (4177, 8) and without.X.shape == (4177, 7)
    for variant in (number, without):
        assert np.array_equal(variant.X[:, -7:], base.X[:, -7:])
        assert np.array_equal(variant.y, base.y)
        assert len(variant.feature_names) == variant.X.shape[1]


def test_standardize_uses_training_rows_alone():
    X = np.array([[1.0, 0.1], [3.0, 0.1], [100.0, 0.3]])
    scaled = standardize(X, np.array([0, 1]))
    # training mean 2 and std 1; the second column is constant over the training rows
    np.testing.assert_allclose(scaled, [[-1, 0], [1, 0], [98, 0.2]], rtol=0, atol=1e-12)


def test_twin_share():
    # rows 0 to 4 are one sample, 5 to 9 another of the other class: each test row has a twin
    data = tiny([[1.0]] * 5 + [[2.0]] * 5, [0] * 5 + [1] * 5)
    assert twin_share(data, 0) == 1.0
    alone = tiny(np.arange(10.0)[:, None], [0] * 5 + [1] * 5)
    assert twin_share(alone, 0) == 0.0


def test_shares_and_stratification_of_a_split():
    y = np.repeat([0, 1, 2], [100, 300, 600])
    for order in SPLIT_ORDERS:
        train, validation, test = split(y, 3, order, (0.7, 0.15, 0.15))
        assert [len(part) for part in (train, validation, test)] == [700, 150, 150]
        assert np.bincount(y[test]).tolist() == [15, 45, 90]
        loose = split(y, 3, order, (0.8, 0.1, 0.1), stratify=False)
        assert [len(part) for part in loose] == [800, 100, 100]
        assert sorted(np.concatenate(loose)) == list(range(1000))
        assert np.bincount(y[loose[2]]).tolist() != [10, 30, 60]
    with pytest.raises(ValueError, match="three above 0 whose sum is 1"):
        split(y, 3, fractions=(0.7, 0.2, 0.2))


def digest_of_arrays(name: str) -> str:
    """SHA-256 of all that a training is given of a data set, in either order of splitting."""
    data = load_dataset(name)
    sha = hashlib.sha256(data.digest.encode())
    for order in SPLIT_ORDERS:
        parts = divide(data, 42, order)
        for part in parts:
            sha.update(part.astype("<i8").tobytes())
        sha.update(standardize(data.X, parts[0]).tobytes())
        sha.update(network_features(data, parts[0]).tobytes())
    return sha.hexdigest()


OWN_SETS = (*DATASETS, *MORE_DATASETS, *ABALONE_VARIANTS)
COLLECTED = [name for name, about in descriptions().items() if not about.package]
OF_EXTRA = [
    name
    for name, about in descriptions().items()
    if about.package and importlib.util.find_spec(about.package)
]


@pytest.mark.parametrize(
    "names",
    [(*OWN_SETS, *COLLECTED), pytest.param(OF_EXTRA, marks=pytest.mark.slow)],
    ids=["files", "extra"],
)
def test_arrays_are_the_same_on_a_lesser_processor(names):
    features = " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])
    if not features:
        pytest.skip("NumPy uses no instructions here beyond those that it needs")
    code = "import sys, test_datasets as t; print(*map(t.digest_of_arrays, sys.argv[1:]))"
    variables = {"NPY_DISABLE_CPU_FEATURES": features, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, *names], env=os.environ | variables,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.split() == [digest_of_arrays(name) for name in names]


def test_rows_are_summed_in_one_order_whatever_the_layout():
    X = np.random.default_rng(0).normal(size=(501, 7))
    rows = np.arange(0, 501, 2)
    expected = standardize(X, rows).tobytes()
    assert standardize(np.asfortranarray(X), rows).tobytes() == expected


NODATA = -3.4028234663852886e38


def column_of(values) -> Dataset:
    values = np.array(values, float)[:, None]
    y = np.arange(len(values)) % 2
    return Dataset("my", values, y, ("height",), ("0", "1"), "", range(2, len(values) + 2))


@pytest.mark.parametrize("row", [5, 90])  # of the training part, and of another
@pytest.mark.parametrize("value", [NODATA, 1e30, -1e99])
def test_a_mark_for_no_data_is_refused_with_its_line(row, value):
    values = 0.05 * np.random.default_rng(0).normal(size=100)
    values[row] = value
    with pytest.raises(DataError, match=rf"my: line {row + 2}, column 'height': -?\d.*float32"):
        network_features(column_of(values), np.arange(60))
    whole = np.delete(values, row)  # as the message advises
    assert np.isfinite(network_features(column_of(whole), np.arange(60))).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e300])
def test_columns_too_small_or_large_to_be_scaled(scale):
    values = scale * np.linspace(-1, 1, 30)
    with pytest.raises(DataError, match=r"column 'height' can't be standardized.*change its unit"):
        network_features(column_of(values), np.arange(20))


@pytest.mark.parametrize("scale", [1e-130, 1e-30, 1.0, 1e30, 1e100])
def test_the_unit_of_a_column_does_not_matter(scale):
    values = np.linspace(-1, 1, 30)
    one, other = (network_features(column_of(v), np.arange(20)) for v in (values, scale * values))
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_constant_and_nearly_binary_columns_are_fine():
    for values in ([7.0] * 30, [0.0] * 29 + [1.0], [0.1, 0.1 + 1e-17] * 15, [1e9] * 20 + [0.0]):
        scaled = network_features(column_of(values), np.arange(10))
        assert scaled.dtype == np.float32 and np.isfinite(scaled).all()


@pytest.mark.parametrize(
    ("counts", "least", "merged", "names"),
    [
        # the rarest joins the smaller neighbor, again and again
        ((2, 12, 38, 100, 116, 135, 62, 19, 4), 15, [52, 100, 116, 135, 62, 23], "a–c d e f g h–i"),
        ((9, 1, 5), 2, [9, 6], "a b–c"),
        ((5, 1, 5), 2, [6, 5], "a–b c"),
        ((1, 1, 1, 9), 2, [3, 9], "a–c d"),
        ((3, 0, 3), 1, [3, 3], "a–b c"),
        ((3, 3), 9, [6], "a–b"),
        ((3, 4), 0, [3, 4], "a b"),
    ],
)
def test_merging_rare_classes(counts, least, merged, names):
    y = np.repeat(np.arange(len(counts)), counts)
    found, labels = merge_rare_classes(y, "abcdefghi"[: len(counts)], least)
    assert np.bincount(found).tolist() == merged and " ".join(labels) == names
    assert (np.diff(found) >= 0).all() and found.dtype == np.int64
