"""Commit and web address of the checkout that this package runs from."""

import os
import re
import subprocess
from pathlib import Path

UNKNOWN = "ADDRESS-OF-THIS-REPOSITORY"
CHECKOUT = "./amol[classifier]"  # what pip installs from a checkout's root
PROVIDERS = ("github", "gitlab", "bitbucket")  # those that the book's theme makes links for


def _git(folder: Path, *arguments: str) -> str:
    """Output of a git command, empty where it fails or where ``folder`` is no checkout's root.

    Variables such as GIT_DIR, which would name another repository, are left out.
    """
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}

    def run(*command: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *command], capture_output=True, encoding="utf-8",
                errors="surrogateescape", env=environment,
            )  # fmt: skip
        except OSError:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    top = run("rev-parse", "--show-toplevel")
    return run(*arguments) if top and Path(top).resolve() == folder.resolve() else ""


def commit(folder: Path) -> str:
    """Short commit hash, marked if files differ from that commit."""
    found = _git(folder, "rev-parse", "--short=10", "HEAD")
    changed = found and _git(folder, "status", "--porcelain", "--untracked-files=no")
    return f"{found} with uncommitted changes" if changed else found or "uncommitted"


def repository(folder: Path) -> tuple[str, str]:
    """Web address and branch of the repository, both empty where unknown.

    From AMOL_REPOSITORY_URL, else from the continuous integration's variables, else from the
    remote ``origin``. Credentials in an address are dropped; the branch of a detached head is its
    hash.
    """
    address = os.environ.get("AMOL_REPOSITORY_URL", "")
    if not address and (owned := os.environ.get("GITHUB_REPOSITORY")):
        address = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{owned}"
    address = address or _git(folder, "config", "--local", "remote.origin.url")
    found = re.fullmatch(
        r"(?:(?:https?|ssh)://)?(?:[^@/]*@)?([\w.-]+)(?::\d+)?[/:]([\w.-]+(?:/[\w.-]+)+)",
        address.rstrip("/").removesuffix(".git"),
    )
    if not found or not any(provider in found[1] for provider in PROVIDERS):
        return "", ""
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    if branch == "HEAD":
        branch = _git(folder, "rev-parse", "HEAD")
    return f"https://{found[1]}/{found[2]}", branch


def with_address(text: str, address: str) -> str:
    """Text with the repository's address in place of REPOSITORY_URL.

    Where it is unknown, ``pip install`` reads the library from a checkout instead.
    """
    if not address:
        text = text.replace("amol[classifier] @ git+REPOSITORY_URL#subdirectory=amol", CHECKOUT)
    return text.replace("REPOSITORY_URL", address or UNKNOWN)
