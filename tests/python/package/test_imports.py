from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest


def _imports(package: Path) -> dict[str, set[str]]:
    """Map each module to the modules of its package that it imports, including imports inside functions and
    TYPE_CHECKING.
    """
    files = {".".join(file.relative_to(package.parent).with_suffix("").parts): file for file in package.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): file for name, file in files.items()}
    graph: dict[str, set[str]] = {}
    for name, file in modules.items():
        nodes = list(ast.walk(ast.parse(file.read_text())))
        froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        assert not any(node.level for node in froms), f"{name}: only absolute imports are followed"
        named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        named |= {str(node.module) for node in froms}
        named |= {f"{node.module}.{alias.name}" for node in froms for alias in node.names}
        graph[name] = named & modules.keys()
    return graph


def test_the_imports_of_the_package_have_no_cycle(root: Path) -> None:
    graph = _imports(root / "python" / "src" / "spark_kinesis")
    assert "spark_kinesis.errors" in graph["spark_kinesis.session"]
    TopologicalSorter(graph).prepare()


def test_a_cycle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "circle"
    package.mkdir()
    (package / "__init__.py").write_text("from circle import a\n")
    (package / "a.py").write_text("def f():\n    from circle.b import g\n")
    (package / "b.py").write_text("import circle.a\n")
    with pytest.raises(CycleError):
        TopologicalSorter(_imports(package)).prepare()
