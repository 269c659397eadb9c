"""No module reaches itself by its imports: neither at the top, nor inside functions, nor for types alone.

An import inside a function hides a circle from Python, not from whoever reads the code. Where something below has to
ask what lies above, it asks through a port of `orchestrator.app.kernel.context.Context`, which `bootstrap` names.
"""

from __future__ import annotations

import ast
import graphlib

import pytest

from tests.architecture import source


def imports(module: source.Module, names: set[str]) -> set[str]:
    """The modules of the product that a module imports anywhere in it.

    Args:
        names: the dotted names of all modules of the product.
    """
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {each if each in names else str(node.module) for each in inner}
    return found & names - {dotted(module)}


def dotted(module: source.Module) -> str:
    """The name by which a module is imported."""
    return module.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def circle(modules: list[source.Module]) -> list[str]:
    """A circle of imports, each module importing the one before it; empty where there is none."""
    names = {dotted(module) for module in modules}
    sorter = graphlib.TopologicalSorter({dotted(module): imports(module, names) for module in modules})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_reaches_itself() -> None:
    assert circle(source.PRODUCT) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("from package import b\n", ["package.a", "package.b", "package.a"], id="top"),
        pytest.param("def f():\n    import package.b\n", ["package.a", "package.b", "package.a"], id="function"),
        pytest.param(
            "if TYPE_CHECKING:\n    from package.b import B\n", ["package.a", "package.b", "package.a"], id="type"
        ),
        pytest.param("import package\n", [], id="none"),
    ],
)  # fmt: skip
def test_a_circle_is_found_wherever_it_is_closed(text: str, found: list[str]) -> None:
    other = source.Module("package/b.py", "from package import a\n")
    made = circle([source.Module("package/__init__.py", ""), source.Module("package/a.py", text), other])
    assert (sorted(made), made[:1] == made[-1:]) == (sorted(found), True)
