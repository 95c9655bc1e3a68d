"""No two Python files need each other."""

import ast
from pathlib import Path

FOLDERS = ("tools", "benchmarks", "tests")


def module_files(root: Path) -> dict[str, Path]:
    """Every file by the names under which others import it: `suites.plans` and `plans` for benchmarks/suites/plans.py."""
    found = {}
    for path in (p for folder in FOLDERS for p in sorted((root / folder).rglob("*.py"))):
        parts = path.relative_to(root).with_suffix("").parts
        for k in range(len(parts)):
            found[".".join(parts[k:])] = path
    return found


def imports_of(path: Path, root: Path) -> set[str]:
    """Names that a file imports, anywhere in it; those relative to its package in full."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = list(path.relative_to(root).parts[: -node.level]) if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def circles(root: Path) -> list[str]:
    """Circles of imports, each as a -> b -> a."""
    files = module_files(root)
    found: list[str] = []
    finished: set[Path] = set()

    def visit(path: Path, trail: list[Path]) -> None:
        if path in trail:
            found.append(" -> ".join(str(p.relative_to(root)) for p in [*trail[trail.index(path) :], path]))
        elif path not in finished:
            for name in sorted(imports_of(path, root)):
                if name in files and files[name] != path:
                    visit(files[name], [*trail, path])
            finished.add(path)

    for path in files.values():
        visit(path, [])
    return found


def test_there_is_no_circle(root):
    assert len(module_files(root)) > 100
    assert circles(root) == []


def test_a_planted_circle_is_found(tmp_path):
    folder = tmp_path / "tools" / "pages"
    folder.mkdir(parents=True)
    (folder / "first.py").write_text("def f():\n    from . import second\n")
    (folder / "second.py").write_text("from .third import x\n")
    (folder / "third.py").write_text("from pages.first import f\n")
    assert circles(tmp_path) == ["tools/pages/first.py -> tools/pages/second.py -> tools/pages/third.py -> tools/pages/first.py"]
