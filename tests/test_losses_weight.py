"""The weight m(k, y): a table by hand, the paper's four properties, its variants."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from amol.losses import center_class, center_weight, closeness, distances, gaussian_log_target

classes = st.integers(2, 15)
strength = st.floats(0, 10)


def center(num_classes):
    return (num_classes - 1) / 2


def test_linear_weight_by_hand():
    expected = [
        [1, 1.5, 2, 1.5, 1],
        [1, 1.25, 1.5, 1.25, 1],
        [1, 1, 1, 1, 1],
        [1, 1.25, 1.5, 1.25, 1],
        [1, 1.5, 2, 1.5, 1],
    ]
    assert center_weight(5).tolist() == expected
    assert center_weight(5, alpha=2)[0].tolist() == [1, 2, 3, 2, 1]


def test_inward_weight_by_hand():
    expected = [
        [1, 1.5, 2, 1, 1],
        [1, 1, 1.5, 1, 1],
        [1, 1, 1, 1, 1],
        [1, 1, 1.5, 1, 1],
        [1, 1, 2, 1.5, 1],
    ]
    assert center_weight(5, direction="inward").tolist() == expected


def test_even_number_of_classes_has_its_center_between_two():
    third = 1 / 3
    expected = torch.tensor(
        [
            [1, 1 + 2 * third, 1 + 2 * third, 1],
            [1, 1 + 2 * third**2, 1 + 2 * third**2, 1],
            [1, 1 + 2 * third**2, 1 + 2 * third**2, 1],
            [1, 1 + 2 * third, 1 + 2 * third, 1],
        ],
        dtype=torch.float64,
    )
    torch.testing.assert_close(center_weight(4), expected)
    inward = center_weight(4, direction="inward")
    assert (inward != 1).tolist() == [[False, True, False, False], [False] * 4,
                                      [False] * 4, [False, False, True, False]]  # fmt: skip


def test_exponential_weight_is_the_exponential_of_the_same_product():
    expected = (center_weight(7, alpha=1.5) - 1).exp()
    torch.testing.assert_close(center_weight(7, alpha=1.5, form="exponential"), expected)


@settings(deadline=None)
@given(classes, strength)
def test_four_properties(num_classes, alpha):
    m = center_weight(num_classes, alpha)
    c = center(num_classes)
    assert (center_weight(num_classes, 0) == 1).all()  # α = 0 recovers the plain loss
    if num_classes % 2:
        assert (m[int(c)] == 1).all()  # a label at the center changes nothing
        assert m[0].max() == m.max() == m[0, int(c)]  # an extreme label, called center: the most
    assert (m[:, [0, -1]] == 1).all()  # an extreme class called right, or by any other: no extra
    assert (m >= 1).all() and (m <= 1 + alpha + 1e-12).all()


@settings(deadline=None)
@given(classes, strength, st.sampled_from(["linear", "exponential"]))
def test_inward_is_part_of_both(num_classes, alpha, form):
    both = center_weight(num_classes, alpha, form)
    inward = center_weight(num_classes, alpha, form, "inward")
    assert (inward <= both).all() and ((inward == 1) | (inward == both)).all()
    for y in range(num_classes):
        for k in range(num_classes):
            if not (y < k <= center(num_classes) or center(num_classes) <= k < y):
                assert inward[y, k] == 1


@settings(deadline=None)
@given(classes, strength, st.sampled_from(["both", "inward"]))
def test_reading_the_scale_backwards_turns_the_table(num_classes, alpha, direction):
    m = center_weight(num_classes, alpha, direction=direction)
    torch.testing.assert_close(m.flip(0, 1), m)


def test_two_classes_have_no_center():
    assert (center_weight(2, alpha=5, form="exponential") == 1).all()


@pytest.mark.parametrize(("num_classes", "expected"), [(2, 0), (3, 1), (6, 2), (7, 3)])
def test_center_class_is_the_lower_middle(num_classes, expected):
    assert center_class(num_classes) == expected


def test_tables_by_hand():
    assert distances(3).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert closeness(3).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    target = gaussian_log_target(3, 2.0)
    torch.testing.assert_close(target.exp().sum(1), torch.ones(3, dtype=torch.float64))
    assert (target[0, 0] - target[0, 2]).item() == pytest.approx(4 / 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_classes": 1}, "num_classes is at least 2, got 1"),
        ({"alpha": -0.1}, "alpha is finite and not negative, got -0.1"),
        ({"alpha": float("nan")}, "alpha is finite and not negative, got nan"),
        ({"form": "square"}, "form is one of linear, exponential, got 'square'"),
        ({"direction": "outward"}, "direction is one of both, inward, got 'outward'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        center_weight(**{"num_classes": 5, **arguments})
