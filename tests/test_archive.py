"""A ZIP of the repository, unpacked where no git knows of it, builds."""

import shutil
import subprocess

import pytest
from conftest import ROOT, Book

pytestmark = pytest.mark.slow
OWN_PAGES = ("_toc.yml", "book/index.md", "book/rerun.md", "book/references.bib")


def test_an_unpacked_archive_builds(tmp_path):
    archive, root = tmp_path / "main.zip", tmp_path / "companion-main"
    command = ["git", "-C", str(ROOT), "archive", "--format=zip", "-o", str(archive), "HEAD"]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("no git checkout")
    shutil.unpack_archive(archive, root)
    small = Book.create(tmp_path / "small").root  # its pages take seconds
    shutil.rmtree(root / "notebooks")
    shutil.copytree(small / "notebooks", root / "notebooks")
    for name in OWN_PAGES:
        shutil.copy(small / name, root / name)
    book = Book(root)
    done = book.build(PYTHONPATH=str(root), GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    page = book.page("notebooks/01_first")
    assert ">1.00<" in page and "Table 1" in page and "github.com" not in page
