"""The built book as an RO-Crate: files that are there, references that resolve, no surprises."""

import json
import re

import pytest

pytestmark = pytest.mark.slow


def crate_of(book) -> dict[str, dict]:
    text = (book.root / "_build/html/ro-crate-metadata.json").read_text(encoding="utf-8")
    assert str(book.root) not in text
    return {each["@id"]: each for each in json.loads(text)["@graph"]}


def references(value):
    if isinstance(value, dict):
        yield value["@id"]
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_each_page_is_an_action_with_parameters_files_libraries_and_times(original):
    found = crate_of(original)
    run = found["#run-01_first"]
    assert run["@type"] == "CreateAction" and run["startTime"] < run["endTime"]
    given = {
        found[each["@id"]].get("name"): found[each["@id"]].get("value") for each in run["object"]
    }
    assert given["rate"] == "0.5" and given["names"] == '["a", "b"]' and given["title"] == "none"
    assert found[run["instrument"]["@id"]]["@id"] == "_sources/notebooks/01_first.ipynb"
    needed = {each["@id"] for each in found[run["instrument"]["@id"]]["softwareRequirements"]}
    assert any(name.startswith("#ipykernel-") for name in needed)
    assert run["result"][0]["@id"] == "notebooks/01_first.html"
    assert found["./"]["mainEntity"]["@id"] == found["#build"]["instrument"]["@id"]


def test_files_are_there_and_references_resolve(original):
    found, site = crate_of(original), original.root / "_build" / "html"
    outside = re.compile(r"https?://")
    for name, entity in found.items():
        if "File" in entity["@type"]:
            assert (site / name).is_file(), name
            assert {"@id": name} in found["./"]["hasPart"]
        for key, value in entity.items():
            for target in references(value) if key[0] != "@" else ():
                assert target in found or outside.match(target), (name, target)


def test_another_build_differs_in_nothing_but_times(built):
    before = crate_of(built)
    (built.root / "build/executed/notebooks/01_first.json").unlink()
    assert "1 to execute" in built.build().stdout
    after = crate_of(built)
    times = {"startTime", "endTime", "datePublished"}

    def timeless(found):
        return [{k: v for k, v in each.items() if k not in times} for each in found.values()]

    assert before != after and timeless(before) == timeless(after)
