"""Text of a table in a file: read once, unpacked, refused where it is something else; its lines."""

import csv
import gzip
import io
import itertools
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

SEPARATORS = {",": ",", ";": ";", "tab": "\t", "|": "|", "space": r"\s+"}
# First bytes, in lower case, of files that are no table as text.
OTHER_KINDS = {
    b"\xff\xfe": "text in UTF-16", b"\xfe\xff": "text in UTF-16",
    b"pk\x03\x04": "a ZIP archive", b"\xd0\xcf\x11\xe0": "a workbook",
    b"\x1f\x8b": "packed by gzip (then its name should end in .gz)",
    b"bzh": "packed by bzip2", b"\xfd7zxz": "packed by xz", b"(\xb5/\xfd": "packed by zstd",
    b"7z\xbc\xaf": "a 7z archive", b"rar!": "a RAR archive", b"%pdf": "a PDF",
    b"par1": "a Parquet file", b"arrow1": "an Arrow file", b"\x89hdf": "an HDF5 file",
    b"sqlite format 3": "a database of SQLite", b"\x89png": "a picture", b"gif8": "a picture",
    b"\xff\xd8\xff": "a picture", b"{\\rtf": "an RTF document", b"\x93numpy": "an array of NumPy",
    b"<!doctype": "an HTML page", b"<html": "an HTML page", b"<?xml": "an XML document",
    b"<svg": "a picture", b"<stata_dta": "a file of Stata", b"$fl2": "a file of SPSS",
    b"rdx2\n": "a file of R", b"rdx3\n": "a file of R", b"@relation": "an ARFF file",
    b"version https://git-lfs": "a pointer of Git LFS (`git lfs pull` fetches the file itself)",
}  # fmt: skip
UNPACKING = (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, RuntimeError)


class Text:
    """Text of a file, read once, so that a pipe will do; unpacked where it is .gz or .zip.

    Raises
    ------
    ValueError
        Where it is no text, or isn't UTF-8.
    OSError
    """

    def __init__(self, path: Path):
        content = _unpacked(path)
        if kind := _other_kind(content):
            raise ValueError(f"the file is {kind}; wanted: a table as text, CSV in UTF-8")
        try:
            self.text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise ValueError(
                f"line {line} holds a byte that isn't UTF-8; save it as UTF-8"
            ) from None

    def frame(self, sep: str, **options) -> pd.DataFrame:
        """`pandas.read_csv`, with its errors in the words of a user's file."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pd.errors.DtypeWarning)
                warnings.simplefilter("error", pd.errors.ParserWarning)  # a row would lose cells
                return pd.read_csv(
                    io.StringIO(self.text, newline=""),
                    sep=SEPARATORS[sep],
                    na_filter=False,
                    index_col=False,
                    skipinitialspace=True,
                    **options,
                )
        except pd.errors.EmptyDataError:
            raise ValueError("the file is empty; wanted: a header and rows") from None
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise ValueError(self._fault(sep) or f"the file is no table: {error}") from None

    def _fault(self, sep: str) -> str:
        """The first row that is longer than the first, or whose quote is never closed."""
        width, end = 0, len(self.text.rstrip())
        for line, cells in self._records(sep):
            width = width or len(cells)
            if len(cells) > width:
                return f"line {line} has {len(cells)} cells; allowed: {width}, as in the first row"
            if "\n" in cells[-1] and self.text.endswith(cells[-1], 0, end + 1):
                return f"the quote that opens in line {line} is never closed"
        return ""

    def _records(self, sep: str) -> Iterator[tuple[int, list[str]]]:
        """Rows that aren't blank, each with the line in which it starts."""
        if sep == "space":
            lines = enumerate(re.split(r"\r\n|\r|\n", self.text), start=1)
            yield from ((number, line.split()) for number, line in lines if line.strip())
            return
        csv.field_size_limit(2**31 - 1)
        text, start = io.StringIO(self.text, newline=""), 1
        rows = csv.reader(text, delimiter=SEPARATORS[sep], skipinitialspace=True)
        for cells in rows:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield start, cells
            start = rows.line_num + 1

    def first_row(self, sep: str) -> list[str]:
        """Cells of the first row."""
        row = self.frame(sep, header=None, nrows=1, dtype=str)
        return [cell.strip() for cell in row.iloc[0]]

    def splits(self, sep: str) -> bool:
        """Whether a separator splits the first two rows into equally many cells."""
        return len({len(cells) for _, cells in itertools.islice(self._records(sep), 2)}) == 1

    def lines(self, sep: str, rows: int) -> Sequence[int]:
        """Lines, as an editor counts them, in which the last ``rows`` rows start."""
        count = self.text.count("\n") + (not self.text.endswith("\n"))
        if count <= rows + 1 and "\r" not in self.text.replace("\r\n", ""):  # a row in each
            return range(count - rows + 1, count + 1)
        return [line for line, _ in self._records(sep)][-rows:]


def _unpacked(path: Path) -> bytes:
    content = path.read_bytes()
    try:
        if path.suffix.lower() == ".gz":
            return gzip.decompress(content)
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                files = [name for name in archive.namelist() if not name.endswith("/")]
                if len(files) != 1:
                    raise ValueError(f"it holds {len(files)} files; wanted: one table")
                return archive.read(files[0])
    except UNPACKING as error:
        raise ValueError(f"the file can't be unpacked: {error}") from None
    return content


def _other_kind(content: bytes) -> str:
    """What a file is by its first bytes where it is no table as text; empty for text."""
    start = content[:9000].lower()
    if re.match(rb'(\xef\xbb\xbf)?\s*[{[]\s*["{[]', start):
        return "JSON"
    if start.startswith(b"pk") and b"xl/" in start:
        return "a workbook"
    for first, kind in OTHER_KINDS.items():
        if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(first):
            return kind
    return "no text" if b"\0" in content else ""
