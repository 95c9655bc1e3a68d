#!/usr/bin/env python3
"""Hold every #include and every deft_room() row against layers.toml; print each violation as FILE:LINE: sentence.

Usage: check_layers.py [ROOT]     exit status 0: clean, 1: violations

Checked: a room includes only the rooms of its row and enters third parties only through its doors; heavy headers stay in
.cpp files and internal headers; internal headers stay in their room; rows name earlier rooms only and headers form no
circle; CMake links what layers.toml allows and nothing else; no instruction set or fast-math flag outside the kernels.
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
        self.rooms: dict[str, list[str]] = table["rooms"]
        self.vocabulary = set(table["vocabulary"]["headers"])
        self.internal = set(table["internal"]["headers"])
        self.data: dict[str, list[str]] = table["data"]
        self.third_parties: dict[str, dict] = table["third_parties"]

    def third_party_of(self, header: str) -> str | None:
        """Name of the third party that owns a header; None for the standard library and unknown ones."""
        owners = [(len(prefix), name) for name, party in self.third_parties.items() for prefix in party["headers"]
                  if header.startswith(prefix)]
        return max(owners)[1] if owners else None

    def may_enter(self, room: str, party: str) -> bool:
        doors = self.third_parties[party]["doors"]
        return "*" in doors or room in doors


def room_of(file: str) -> str | None:
    """Room that a source file belongs to; None outside the rooms (tests, benchmarks)."""
    parts = file.split("/")
    if parts[:2] == ["src", "deft"] and len(parts) > 3:
        return parts[2]
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


def check_row(layers: Layers, include: Include, room: str) -> list[str]:
    """An include of one of our headers against the row of the room."""
    target = include.path.split("/")[1] if include.path.count("/") >= 2 else ""
    if not include.path.startswith("deft/") or target not in layers.rooms:
        return [include.says(f'"{include.path}" is no header of a room; write "deft/<room>/<file>.hpp"')]
    if target == room or include.path in layers.vocabulary:
        return []
    if target in layers.rooms[room]:
        if room not in layers.data or target == "core" or include.path in layers.data[room]:
            return []
        return [include.says(f'{room} may include data only, and "{include.path}" is not in its list in layers.toml')]
    return [include.says(f"{room} may not include {target} (\"{include.path}\"); allowed: {', '.join(layers.rooms[room]) or 'no room'}")]


def check_door(layers: Layers, include: Include, room: str) -> list[str]:
    """An include of the standard library or a third party against the doors."""
    party = layers.third_party_of(include.path)
    if party is None:
        standard = re.fullmatch(r"[a-z_0-9]+", include.path)
        return [] if standard else [include.says(f"<{include.path}> belongs to no third party of layers.toml")]
    if not layers.may_enter(room, party):
        doors = ", ".join(layers.third_parties[party]["doors"])
        return [include.says(f"{room} may not include {party} (<{include.path}>); its door is {doors}")]
    if layers.third_parties[party].get("heavy") and not include.file.endswith(".cpp") \
            and include.file.removeprefix("src/") not in layers.internal:
        return [include.says(f"<{include.path}> is heavy: include it in a .cpp file")]
    return []


def check_includes(layers: Layers, root: Path, includes: list[Include]) -> list[str]:
    """Rows, doors, heavy and internal headers."""
    problems = []
    for include in includes:
        room = room_of(include.file)
        if include.path.startswith("deft/") and not (root / "src" / include.path).exists():
            problems.append(include.says(f'"{include.path}" does not exist'))
        if include.path in layers.internal:
            owner = include.path.split("/")[1]
            if room != owner and not include.file.startswith(f"tests/{owner}/"):
                problems.append(include.says(f'"{include.path}" is internal to {owner}'))
        if room is None:
            continue
        if room not in layers.rooms:
            problems.append(include.says(f"room {room} is missing in layers.toml"))
        elif include.quoted and room == "cli" and not include.path.startswith("deft/"):
            pass  # the program's own headers stand beside its sources
        elif include.quoted:
            problems += check_row(layers, include, room)
        else:
            problems += check_door(layers, include, room)
    return problems


def check_order(layers: Layers) -> list[str]:
    """Rows that name a room which is not above them."""
    problems, above = [], []
    for room, row in layers.rooms.items():
        problems += [f"layers.toml:1: {room} names {other}, which is not above it" for other in row if other not in above]
        above.append(room)
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
            circle = trail[trail.index(header):] + [header]
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


def check_cmake_rooms(layers: Layers, root: Path) -> list[str]:
    """The deft_room() rows: same rooms as layers.toml, third parties by their doors only."""
    party_of = {target: name for name, party in layers.third_parties.items() for target in party["targets"]}
    problems, seen = [], set()
    for line, command, arguments in cmake_commands(root / "CMakeLists.txt"):
        if command != "deft_room":
            continue
        room, *words = arguments.split()
        seen.add(room)
        rooms, libraries, keyword = [], [], ""
        for word in words:
            if word in ("ROOMS", "LINK", "PRIVATE"):
                keyword = word
            else:
                (rooms if keyword == "ROOMS" else libraries).append(word)
        if rooms != layers.rooms.get(room):
            problems.append(f"CMakeLists.txt:{line}: deft_room({room}) links rooms {rooms}, layers.toml says {layers.rooms.get(room)}")
        for library in libraries:
            party = party_of.get(library)
            if party is None or not layers.may_enter(room, party):
                problems.append(f"CMakeLists.txt:{line}: deft_room({room}) links {library}, whose door is elsewhere or unknown")
    missing = set(layers.rooms) - seen - {"cli"}
    return problems + [f"CMakeLists.txt:1: room {room} of layers.toml has no deft_room()" for room in sorted(missing)]


def check_flags(root: Path) -> list[str]:
    """Instruction sets outside the kernels and fast-math anywhere."""
    problems = []
    files = [p for p in root.rglob("*") if (p.name == "CMakeLists.txt" or p.suffix == ".cmake")
             and not {"build", ".venv", ".venv-bench", ".venv-docs", "node_modules", "out"} & set(p.relative_to(root).parts)]
    for path in sorted(files):
        name = str(path.relative_to(root))
        for line, command, arguments in cmake_commands(path):
            for match in FORBIDDEN_FLAG.finditer(arguments):
                if command in HARMLESS_COMMANDS or (name == KERNEL_CMAKE and match[0].startswith("-m")):
                    continue
                problems.append(f"{name}:{line}: '{match[0]}' is allowed for the raw-pointer kernels in {KERNELS} only")
    presets = root / "CMakePresets.json"
    if presets.exists() and (match := FORBIDDEN_FLAG.search(presets.read_text())):
        problems.append(f"CMakePresets.json:1: '{match[0]}' in a preset")
    return problems


def violations(root: Path) -> list[str]:
    """All violations of a tree, in the order of the checks."""
    layers, includes = Layers(root), includes_of(root)
    return (check_order(layers) + check_includes(layers, root, includes) + check_circles(includes)
            + check_cmake_rooms(layers, root) + check_flags(root))


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = violations(root)
    print("\n".join(problems) if problems else "layers: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
