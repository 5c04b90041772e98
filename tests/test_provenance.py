"""Provenance comes from the checkout alone: kind 6 of `tests/README.md`."""

import os
import subprocess

import pytest

from companion.repository import commit, repository


def git(folder, *command) -> str:
    clean = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    how = {"check": True, "capture_output": True, "text": True, "env": clean}
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", str(folder), *names, *command], **how).stdout.strip()


def made(folder, text: str):
    """A repository of one commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a").write_text(text)
    git(folder, "add", "a")
    git(folder, "commit", "-qm", text)
    git(folder, "remote", "add", "origin", f"https://github.com/{text}/book")
    return folder


@pytest.fixture
def ours(tmp_path, monkeypatch):
    for name in ("AMOL_REPOSITORY_URL", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    return made(tmp_path / "ours", "ours")


SURROUNDINGS = {
    "another repository": {"GIT_DIR": "{other}/.git"},
    "another repository and tree": {"GIT_DIR": "{other}/.git", "GIT_WORK_TREE": "{other}"},
    "another index": {"GIT_INDEX_FILE": "{other}/.git/index"},
    "other objects": {"GIT_OBJECT_DIRECTORY": "{other}/.git/objects"},
    "another common folder": {"GIT_COMMON_DIR": "{other}/.git"},
    "a ceiling": {"GIT_CEILING_DIRECTORIES": "{ours}"},
    "settings in variables": {
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "remote.origin.url",
        "GIT_CONFIG_VALUE_0": "https://github.com/other/book"},
    "the user's own settings": {"HOME": "{other}"},
    "a hook's": {"GIT_DIR": ".git", "GIT_PREFIX": "book/"},
}  # fmt: skip


@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_no_surrounding_gives_another_commit_or_address(tmp_path, monkeypatch, ours, kind):
    other = made(tmp_path / "other", "other")
    rewrite = '[url "https://github.com/other/"]\n  insteadOf = https://github.com/ours/\n'
    (other / ".gitconfig").write_text(rewrite)
    for name, value in SURROUNDINGS[kind].items():
        monkeypatch.setenv(name, value.format(other=other, ours=ours))
    assert commit(ours) == git(ours, "rev-parse", "--short=10", "HEAD")
    assert repository(ours) == ("https://github.com/ours/book", "main")
    (ours / "a").write_text("changed")
    assert commit(ours).endswith("with uncommitted changes")


def test_a_folder_within_another_repository_has_no_commit(ours):
    (ours / "zip").mkdir()
    assert commit(ours / "zip") == "uncommitted" and repository(ours / "zip") == ("", "")
