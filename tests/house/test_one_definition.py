"""Every type and every constant of a namespace is defined once: two definitions of a name are undefined behaviour that no linker reports.

Headers are held against each other by the compiler too: tests/CMakeLists.txt compiles all of them in one translation unit.
"""

import re
from collections import defaultdict

TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|enum(?: class)?)\s+(\w+)(?:\s+final)?\s*(?::[^:].*)?\{")
NAMESPACE = re.compile(r"^namespace ?([\w:]*) \{")
NAMESPACE_END = re.compile(r"^\}  // namespace ?([\w:]*)$")


def types_of(text):
    """(qualified name, line) of the types defined at namespace scope; those of anonymous namespaces are left out."""
    found, stack = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if match := NAMESPACE.match(line):
            if not line.rstrip().endswith("}"):
                stack.append(match[1])
        elif NAMESPACE_END.match(line) and stack:
            stack.pop()
        elif (match := TYPE.match(line)) and all(stack):
            found.append(("::".join([*stack, match[1]]), number))
    return found


def defined_twice(files):
    """One line per type that several places define."""
    places = defaultdict(list)
    for name, text in files:
        for qualified, line in types_of(text):
            places[qualified].append(f"{name}:{line}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]


def test_types_are_defined_once(root):
    files = [(str(p.relative_to(root)), p.read_text()) for top in ("src", "apps") for p in sorted((root / top).rglob("*.?pp"))]
    assert sum(len(types_of(text)) for _, text in files) > 500
    assert defined_twice(files) == []


def test_second_definitions_are_found():
    first = "namespace deft::solvers {\n\n/// Enumeration.\nenum class Uniqueness { kUnknown };\n\n}  // namespace deft::solvers\n"
    second = "namespace deft::solvers {\nnamespace {\nstruct Local {\n};\n}  // namespace\nclass Uniqueness {\n};\n}  // namespace deft::solvers\n"
    assert defined_twice([("a.hpp", first), ("b.hpp", second)]) == ["deft::solvers::Uniqueness: a.hpp:4, b.hpp:6"]
    assert defined_twice([("a.cpp", second), ("b.cpp", second.replace("Uniqueness", "Other"))]) == [], "anonymous ones are local"
