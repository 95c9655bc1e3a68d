"""No file of the project names a package registry, a place of one machine, or papers that are not part of it."""

import re

import pytest

# Written in two halves, so that this file does not find itself.
REGISTRY = re.compile(
    "|".join(
        re.escape(a + b)
        for a, b in [
            ("py", "pi.org"),
            ("python", "hosted.org"),
            ("registry.", "npmjs"),
            ("npm", "js.com"),
            ("npm", "js.org"),
            ("yarn", "pkg.com"),
            ("deb.", "debian.org"),
            ("archive.", "ubuntu.com"),
            ("crates", ".io"),
            ("conda", ".anaconda.org"),
        ]
    ),
    re.I,
)
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|opt/wheels)(?:/|\b)(?!\*)|/t" + r"mp/\w+")
ELSEWHERE = re.compile(
    r"\b(?:formulations|verified_blocks|scene_files|problem_files|planning_findings|conventions|reproductions|style|solvers|systems|derivatives)\.m"
    + r"d\b"
    r"|\b[Ii]ssue\s+#?\d|\b(?:sub)?agents? (?:session|helper)|\bhelper session|\bllm\b|\b[Cc]hat" + r"gpt\b",
    re.M,
)
LIMIT_BYTES = 4_000_000


def texts(tracked, root):
    """(name, text) of every tracked text file."""
    for path in tracked:
        raw = path.read_bytes()
        if len(raw) <= LIMIT_BYTES and b"\0" not in raw[:8192]:
            yield str(path.relative_to(root)), raw.decode(errors="replace")


def hits(pattern, tracked, root):
    return [
        f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m[0]}" for name, text in texts(tracked, root) for m in pattern.finditer(text)
    ]


def test_no_package_registry_is_named(tracked, root):
    assert hits(REGISTRY, tracked, root) == []


def test_no_place_of_one_machine_is_named(tracked, root):
    assert hits(MACHINE, tracked, root) == []


def test_nothing_points_to_papers_that_are_not_here(tracked, root):
    assert hits(ELSEWHERE, tracked, root) == []


@pytest.mark.parametrize(
    "pattern, planted",
    [
        (REGISTRY, "https://registry.np" + "mjs.org/three"),
        (REGISTRY, "https://files.python" + "hosted.org/x.whl"),
        (MACHINE, "see /wo" + "rk/main/x"),
        (MACHINE, '"/ro' + 'ot/.venv"'),
        (MACHINE, "in /t" + "mp/scratch"),
        (ELSEWHERE, "as in formulations.m" + "d"),
        (ELSEWHERE, "for issue " + "#3"),
    ],
)
def test_planted_words_are_found(pattern, planted):
    assert pattern.search(planted)


def test_no_generated_file_is_tracked(tracked, root):
    names = [str(p.relative_to(root)) for p in tracked]
    assert [n for n in names if re.search(r"(^|/)(build|out|node_modules|__pycache__|\.venv[^/]*)/|\.(o|a|so|pyc)$", n)] == []
