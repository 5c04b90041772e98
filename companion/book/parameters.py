"""Parameters written as text: one meaning for ``amol run``, ``amol fork`` and ``amol study``.

Text is YAML 1.2: ``1e-3`` is a number, ``true`` a boolean, ``no`` a word, ``[a, "b, c"]`` a list.
A list may also be written ``a,b``. Where texts are wanted, such as labels, a value stays as it is
written: ``007`` and ``1.0`` keep their zeros.

A parameter is known by its ``type`` (text of an annotation, such as ``list[str]``), its
``default`` and its ``help``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from inspect import getdoc

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from companion.errors import did_you_mean

BUILT_IN = {"bool", "int", "float", "str", "list", "dict"}


def _load(text: str) -> tuple:
    """What YAML makes of a text: typed, and with every scalar as written."""
    return tuple(YAML(typ=kind, pure=True).load(text) for kind in ("safe", "base"))


def _wants_text(known: Mapping) -> bool:
    default = known["default"]
    texts = isinstance(default, list) and default and all(isinstance(i, str) for i in default)
    return bool(texts or re.match(r"(str|(list|tuple)\[str\b.*)$", known["type"]))


def _scalar(text: str, as_written: bool):
    """Value of a text that isn't a list or mapping; where YAML sees none, the text itself."""
    try:
        typed, written = _load(text)
    except YAMLError:
        return text
    if text[:1] in tuple("[{'\""):
        return written if as_written else typed
    number = isinstance(typed, bool | int | float) or (typed is None and text)
    return typed if number and not as_written else text


def read_value(text: str, known: Mapping):
    """The value of a parameter from the command line.

    Parameters
    ----------
    text : str
    known : mapping
        The parameter's ``type`` and ``default``.
    """
    text, as_written = text.strip(), _wants_text(known)
    if not isinstance(known["default"], list | tuple) or text.startswith("["):
        return _scalar(text, as_written)
    if text[:1] in ("'", '"'):
        return _scalar(f"[{text}]", as_written)
    return [_scalar(part.strip(), as_written) for part in text.split(",")] if text else []


def _read_mapping(text: str, parameters: Mapping[str, Mapping]) -> Iterable[tuple[str, object]]:
    """Names and values of a YAML mapping."""
    try:
        typed, written = _load(text)
    except YAMLError as error:
        raise ValueError(f"{text!r} is no YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(typed or {}, dict):
        raise ValueError(f"{text!r} is no mapping; write {{name: value}}")
    for name, as_written in written.items() if typed else ():
        known = _named(name, parameters)
        if isinstance(as_written, str) and isinstance(known["default"], list | tuple):
            yield name, read_value(as_written, known)
        else:
            yield name, as_written if _wants_text(known) else typed[name]


def _named(name: str, parameters: Mapping[str, Mapping]) -> Mapping:
    if name not in parameters:
        hint = did_you_mean(name, parameters)
        raise ValueError(f"no parameter {name!r}; {hint}allowed: {', '.join(parameters) or 'none'}")
    return parameters[name]


def _of_its_type(name: str, value, known: Mapping):
    """The value, or a refusal where its type is plainly another."""
    types = set(re.findall(r"\w+", known["type"].partition("[")[0]))
    if type(value) is int and "float" in types:
        return float(value)
    given = "None" if value is None else type(value).__name__
    if types & BUILT_IN and given not in types:
        wanted = "true or false" if types == {"bool"} else known["type"]
        raise ValueError(
            f"parameter {name} is {value!r}; wanted: {wanted}, such as {known['default']!r}"
        )
    return value


def read_parameters(
    parameters: Mapping[str, Mapping],
    pairs: Iterable[tuple[str, str]] = (),
    mappings: Iterable[str] = (),
) -> dict:
    """Values from the command line and from YAML, each checked for its name and type.

    Parameters
    ----------
    parameters : mapping of str to mapping
        ``type`` and ``default`` of each parameter that there is.
    pairs : iterable of (name, text)
        These win over ``mappings``.
    mappings : iterable of str
        YAML, the last one wins.

    Raises
    ------
    ValueError
        Names the parameter, the value and what is allowed.
    """
    read = [found for text in mappings for found in _read_mapping(text, parameters)]
    read += [(name, read_value(text, _named(name, parameters))) for name, text in pairs]
    return {name: _of_its_type(name, value, parameters[name]) for name, value in read}


def _described(setting: Field, meaning: str) -> Iterable[str]:
    """What a setting means and what is allowed."""
    yield meaning
    if (allowed := setting.metadata.get("allowed", "")) and allowed not in meaning:
        yield f"[allowed: {allowed}]"


@cache
def study_parameters() -> dict[str, dict]:
    """Fields of `StudySettings`, described as a notebook's parameters are, with what is allowed."""
    from companion.train.settings import StudySettings  # loads PyTorch

    described = getdoc(StudySettings) or ""  # none under -OO
    entries = re.findall(r"^(\w+) : .*\n((?:    .*\n)+)", described, re.MULTILINE)
    meaning = {name: " ".join(text.split()) for name, text in entries}
    return {
        setting.name: {
            "type": setting.type.__name__ if type(setting.type) is type else str(setting.type),
            "default": None if setting.default is MISSING else setting.default,
            "help": " ".join(_described(setting, meaning.get(setting.name, ""))),
        }
        for setting in fields(StudySettings)
        if setting.name != "own"
    }
