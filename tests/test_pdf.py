"""The book on paper; `make book` comes first."""

import re

import pytest
from conftest import ROOT
from pypdf import PdfReader

from companion.book import pdf

SITE = ROOT / "_build" / "html"
MARGIN = 18 / 25.4 * 72  # of book/print.css, in points


def flat(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_says_what_is_missing(monkeypatch, tmp_path):
    with pytest.raises(RuntimeError, match="`make book` comes first"):
        pdf.write_pdf(tmp_path, tmp_path / "book.pdf")
    (tmp_path / "index.html").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(RuntimeError, match="install Debian's `chromium`"):
        pdf.write_pdf(tmp_path, tmp_path / "book.pdf")
    assert not (tmp_path / "book.pdf").exists()


@pytest.mark.book
@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no book: run `make book`")
@pytest.mark.skipif(not pdf.find_chromium(), reason="no Chromium: install Debian's `chromium`")
def test_prints_the_whole_book(tmp_path):
    count = pdf.write_pdf(SITE, tmp_path / "book.pdf")
    reader = PdfReader(tmp_path / "book.pdf")
    texts, cut = [], []
    for sheet in reader.pages:

        def inside(text, cm, tm, font, size, right=float(sheet.mediabox.width) - MARGIN):
            at = tm[4] * cm[0] + cm[4]
            if text.strip() and not MARGIN - 2 < at < right:
                cut.append((len(texts) + 1, at, text))

        texts.append(sheet.extract_text(visitor_text=inside))
    assert cut == []
    assert len(texts) == count > 50
    for number, text in enumerate(texts[1:], start=2):
        assert f"{number} / {count}" in text
        assert len(flat(text)) > 40, f"sheet {number} is blank"

    whole = flat("".join(texts))
    pages = [SITE / f"{page}.html" for _, chapters in pdf._parts() for page in chapters]
    site = "".join(page.read_text(encoding="utf-8") for page in pages)
    captions = re.findall(r'class="caption-number">((?:Figure|Table) \d+)', site)
    assert len(captions) > 30
    assert [caption for caption in captions if flat(caption) not in whole] == []
    for leftover in ("Show code", "Download:"):
        assert flat(leftover) not in whole

    listed = re.findall(r"^((?:\d+\. )?\D.*) (\d+)$", texts[1], re.MULTILINE)
    assert len(listed) == len(pages)
    for title, number in listed:
        assert flat(title) in flat(texts[int(number) - 1])
    openers = {pages[0], *(SITE / f"{chapters[0]}.html" for _, chapters in pdf._parts())}
    for page, (title, number) in zip(pages, listed, strict=True):
        if page in openers:  # a part starts on top of a sheet
            assert flat(title) in flat(texts[int(number) - 1])[: len(flat(title)) + 9]
    for part in ("Kandel", "arXiv:2609.10752", "commit"):
        assert part in texts[0]
