"""Hook of MkDocs: links to files of the repository outside of the documentation become plain text on the site.

On GitHub and in a checkout they work as they are.
"""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\s*(?:\.\./)+(?!decisions/|operations/)([A-Za-z._][^)]*)\)")
# The language of a block that states why no test runs it.
_SKIP = re.compile(r'^```(\w+) skip="[^"]*"$', re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page for the site."""
    depth = page.file.src_uri.count("/")
    text = _SKIP.sub(r"```\1", markdown)
    return _OUTSIDE.sub(lambda found: found.group(1) if found.group(0).count("../") > depth else found.group(0), text)
