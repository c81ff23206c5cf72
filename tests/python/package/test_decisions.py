from __future__ import annotations

import re
from pathlib import Path


def test_decisions_are_numbered_without_holes_and_all_are_in_the_index(root: Path) -> None:
    folder = root / "docs" / "decisions"
    pages = sorted(folder.glob("[0-9]*.md"))
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]
    rows = re.findall(r"^\| \[(\d{4})\]\((.+)\) \| (.+) \|$", (folder / "README.md").read_text(), re.MULTILINE)
    assert rows == [(page.name[:4], page.name, page.read_text().splitlines()[0].removeprefix("# ")) for page in pages]
