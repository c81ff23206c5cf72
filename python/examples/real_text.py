"""Real text for the quick start: the words of the documentation in pyspark's sources (Apache License 2.0)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyspark

# Spark 3.5 has one file of functions, and Spark 4 a folder.
_FUNCTIONS = ("functions.py", "functions/builtin.py")
_PAGES = (*_FUNCTIONS, "dataframe.py", "column.py", "readwriter.py", "session.py", "catalog.py", "types.py")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")


def words(count: int) -> list[tuple[str, str]]:
    """Return the first ``count`` words in lower case, each with the line that contains it."""
    found = list(islice(_words(), count))
    if len(found) < count:
        raise ValueError(f"pyspark's documentation has {len(found)} words, fewer than {count}")
    return found


def _words() -> Iterator[tuple[str, str]]:
    folder = Path(pyspark.__file__).parent / "sql"
    for page in filter(Path.exists, (folder / page for page in _PAGES)):
        for node in ast.walk(ast.parse(page.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                for line in (ast.get_docstring(node) or "").splitlines():
                    for word in _WORD.findall(line):
                        yield word.lower(), line.strip()
