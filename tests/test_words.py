"""Words of the pages' sentences."""

import pandas as pd
import pytest

from companion.page.words import change, changes, listed


def test_names_are_listed_as_in_a_sentence():
    assert listed(["A", "B", "C"]) == "A, B and C"
    assert listed(["A"]) == "A" and listed([]) == "none"
    assert listed(["a_b"]) == r"a\_b"


@pytest.mark.parametrize(
    ("differences", "text"),
    [
        ([0.004, 0.062], "0.004 to 0.062 higher"),
        ([-0.004, -0.062], "0.004 to 0.062 lower"),
        ([-0.004, 0.062], "from 0.004 lower to 0.062 higher"),
        ([-0.0041], "0.004 lower"),
    ],
)
def test_differences_have_a_side_and_no_sign(differences, text):
    assert changes(pd.Series(differences)) == text
    assert change(differences[0], 2).split()[1] in ("higher", "lower")
