"""The hook by which a wheel and a source distribution hold the jars for all lines of Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
import build_jar


class JarBuildHook(BuildHookInterface[Any]):
    """Builds the jars for distributions; an editable installation takes whatever ``./dev`` has built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before files are collected."""
        if version != "editable":
            self.app.display_info(build_jar.ensure_jars(build_jar.lines_of_distribution()))
