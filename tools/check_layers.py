#!/usr/bin/env python3
"""Hold every #include and every deft_module() row against layers.toml; print each violation as FILE:LINE: sentence.

Usage: check_layers.py [ROOT]     exit status 0: clean, 1: violations

A module is a folder of src/deft without its sub-folders. Checked: a module includes only the modules of its row and third
parties only where it is their interface; heavy headers stay in .cpp files and internal headers; internal headers stay in
their family (the first folder below src/deft); rows name earlier modules only and headers form no circle; CMake links what
layers.toml allows and nothing else; no instruction set or fast-math flag outside the kernels.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CMAKE_COMMAND = re.compile(r"(\w+)\s*\(([^()]*)\)")
FORBIDDEN_FLAG = re.compile(r"-m(?:arch|avx|fma|tune|sse|bmi)\S*|-ffast-math|-Ofast|-funsafe-math\S*|-ffinite-math\S*")
# Commands that only look at flags or talk about them.
HARMLESS_COMMANDS = {"if", "elseif", "message", "foreach", "function", "check_cxx_compiler_flag"}
KERNELS = "src/deft/solvers/kernels"
KERNEL_CMAKE = "cmake/DeftKernels.cmake"
NATIVE_CMAKE = {KERNEL_CMAKE, "benchmarks/rivals/CMakeLists.txt"}  # the second: a shared library that hides its symbols


@dataclass(frozen=True)
class Include:
    """One #include line; `path` as written, `file` relative to the root."""

    file: str
    line: int
    quoted: bool
    path: str

    def says(self, text: str) -> str:
        return f"{self.file}:{self.line}: {text}"


class Layers:
    """What layers.toml allows."""

    def __init__(self, root: Path):
        with (root / "layers.toml").open("rb") as source:
            table = tomllib.load(source)
        names = list(table["modules"])
        self.modules: dict[str, list[str]] = {  # "*" stands for all modules above
            name: names[: names.index(name)] if row == ["*"] else row for name, row in table["modules"].items()
        }
        self.vocabulary = set(table["vocabulary"]["headers"])
        self.internal = set(table["internal"]["headers"])
        self.data: dict[str, list[str]] = table["data"]
        self.third_parties: dict[str, dict] = table["third_parties"]

    def third_party_of(self, header: str) -> str | None:
        """Name of the third party that owns a header; None for the standard library and unknown ones."""
        owners = [
            (len(prefix), name) for name, party in self.third_parties.items() for prefix in party["headers"] if header.startswith(prefix)
        ]
        return max(owners)[1] if owners else None

    def may_use(self, module: str, party: str) -> bool:
        """Whether a module is an interface of a third party."""
        interfaces = self.third_parties[party]["interfaces"]
        return "*" in interfaces or module in interfaces

    def data_of(self, module: str) -> list[str] | None:
        """The headers that a module may include from the modules of its row; None: all of them."""
        return self.data.get(family_of(module))


def family_of(module: str) -> str:
    """First folder of a module's path."""
    return module.split("/")[0]


def module_of(file: str) -> str | None:
    """Module that a source file belongs to; None outside the modules (tests, benchmarks)."""
    parts = file.split("/")
    if parts[:2] == ["src", "deft"] and len(parts) > 3:
        return "/".join(parts[2:-1])
    return "cli" if parts[:2] == ["apps", "cli"] else None


def includes_of(root: Path) -> list[Include]:
    """All #include lines of the sources, tests and benchmarks."""
    found = []
    for top in ("src", "apps", "tests", "benchmarks"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".h", ".inl") or "node_modules" in path.parts:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if match := INCLUDE.match(line):
                    found.append(Include(str(path.relative_to(root)), number, match[1] == '"', match[2]))
    return found


def check_row(layers: Layers, include: Include, module: str) -> list[str]:
    """An include of one of our headers against the row of the module."""
    target = "/".join(include.path.split("/")[1:-1])
    if not include.path.startswith("deft/") or target not in layers.modules:
        return [include.says(f'"{include.path}" is no header of a module; write "deft/<module>/<file>.hpp"')]
    if target == module or include.path in layers.vocabulary:
        return []
    if target in layers.modules[module]:
        data = layers.data_of(module)
        if data is None or target == "core" or family_of(target) == family_of(module) or include.path in data:
            return []
        return [
            include.says(f'{module} may include data only, and "{include.path}" is not in the list of {family_of(module)} in layers.toml')
        ]
    allowed = ", ".join(layers.modules[module]) or "no module"
    return [include.says(f'{module} may not include {target} ("{include.path}"); allowed: {allowed}')]


def check_interface(layers: Layers, include: Include, module: str) -> list[str]:
    """An include of the standard library or a third party against the interfaces."""
    party = layers.third_party_of(include.path)
    if party is None:
        standard = re.fullmatch(r"[a-z_0-9]+", include.path)
        return [] if standard else [include.says(f"<{include.path}> belongs to no third party of layers.toml")]
    if not layers.may_use(module, party):
        interfaces = ", ".join(layers.third_parties[party]["interfaces"])
        return [include.says(f"{module} may not include {party} (<{include.path}>); its interface is {interfaces}")]
    if (
        layers.third_parties[party].get("heavy")
        and not include.file.endswith(".cpp")
        and include.file.removeprefix("src/") not in layers.internal
    ):
        return [include.says(f"<{include.path}> is heavy: include it in a .cpp file")]
    return []


def check_includes(layers: Layers, root: Path, includes: list[Include]) -> list[str]:
    """Rows, interfaces, heavy and internal headers."""
    problems = []
    for include in includes:
        module = module_of(include.file)
        if include.path.startswith("deft/") and not (root / "src" / include.path).exists():
            problems.append(include.says(f'"{include.path}" does not exist'))
        if include.path in layers.internal:
            owner = include.path.split("/")[1]
            if (module is None or family_of(module) != owner) and not include.file.startswith(f"tests/{owner}/"):
                problems.append(include.says(f'"{include.path}" is internal to {owner}'))
        if module is None:
            continue
        if module not in layers.modules:
            problems.append(include.says(f"module {module} is missing in layers.toml"))
        elif include.quoted and module == "cli" and not include.path.startswith("deft/"):
            pass  # the program's own headers stand beside its sources
        elif include.quoted:
            problems += check_row(layers, include, module)
        else:
            problems += check_interface(layers, include, module)
    return problems


def check_order(layers: Layers) -> list[str]:
    """Rows that name a module which is not above them."""
    problems, above = [], []
    for module, row in layers.modules.items():
        problems += [f"layers.toml:1: {module} names {other}, which is not above it" for other in row if other not in above]
        above.append(module)
    return problems


def check_circles(includes: list[Include]) -> list[str]:
    """Headers that include themselves by way of others."""
    edges: dict[str, list[str]] = {}
    for include in includes:
        if include.path.startswith("deft/"):
            edges.setdefault(include.file.removeprefix("src/"), []).append(include.path)
    problems, finished = [], set()

    def visit(header: str, trail: list[str]) -> None:
        if header in trail:
            circle = trail[trail.index(header) :] + [header]
            problems.append(f"src/{header}:1: headers include each other in a circle: {' -> '.join(circle)}")
        elif header not in finished:
            for other in edges.get(header, []):
                visit(other, trail + [header])
            finished.add(header)

    for header in list(edges):
        visit(header, [])
    return problems


def cmake_commands(path: Path) -> list[tuple[int, str, str]]:
    """(line, command, arguments) of a CMake file, comments removed."""
    text = re.sub(r"#[^\n]*", "", path.read_text())
    return [(text.count("\n", 0, m.start()) + 1, m[1].lower(), m[2]) for m in CMAKE_COMMAND.finditer(text)]


def check_cmake_modules(layers: Layers, root: Path) -> list[str]:
    """The deft_module() rows: same modules as layers.toml, third parties by their interfaces only."""
    party_of = {target: name for name, party in layers.third_parties.items() for target in party["targets"]}
    problems, seen = [], set()
    for line, command, arguments in cmake_commands(root / "CMakeLists.txt"):
        if command != "deft_module":
            continue
        module, *words = arguments.split()
        seen.add(module)
        row: list[str] = []
        libraries: list[str] = []
        keyword = ""
        for word in words:
            if word in ("MODULES", "LINK", "PRIVATE"):
                keyword = word
            else:
                (row if keyword == "MODULES" else libraries).append(word)
        if row != layers.modules.get(module):
            problems.append(f"CMakeLists.txt:{line}: deft_module({module}) links {row}, layers.toml says {layers.modules.get(module)}")
        for library in libraries:
            party = party_of.get(library)
            if party is None or not layers.may_use(module, party):
                problems.append(f"CMakeLists.txt:{line}: deft_module({module}) links {library}, whose interface is elsewhere or unknown")
    missing = set(layers.modules) - seen - {"cli"}
    return problems + [f"CMakeLists.txt:1: module {module} of layers.toml has no deft_module()" for module in sorted(missing)]


def check_flags(root: Path) -> list[str]:
    """Instruction sets outside the kernels and fast-math anywhere."""
    problems = []
    files = [
        p
        for p in root.rglob("*")
        if (p.name == "CMakeLists.txt" or p.suffix == ".cmake")
        and not any(part in ("build", "node_modules", "out") or part.startswith(".venv") for part in p.relative_to(root).parts)
    ]
    for path in sorted(files):
        name = str(path.relative_to(root))
        for line, command, arguments in cmake_commands(path):
            for match in FORBIDDEN_FLAG.finditer(arguments):
                if command in HARMLESS_COMMANDS or (name in NATIVE_CMAKE and match[0].startswith("-m")):
                    continue
                problems.append(f"{name}:{line}: '{match[0]}' is allowed for the raw-pointer kernels in {KERNELS} only")
    presets = root / "CMakePresets.json"
    if presets.exists() and (planted := FORBIDDEN_FLAG.search(presets.read_text())):
        problems.append(f"CMakePresets.json:1: '{planted[0]}' in a preset")
    return problems


def violations(root: Path) -> list[str]:
    """All violations of a tree, in the order of the checks."""
    layers, includes = Layers(root), includes_of(root)
    return (
        check_order(layers)
        + check_includes(layers, root, includes)
        + check_circles(includes)
        + check_cmake_modules(layers, root)
        + check_flags(root)
    )


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = violations(root)
    print("\n".join(problems) if problems else "layers: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
