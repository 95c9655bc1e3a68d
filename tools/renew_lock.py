#!/usr/bin/env python3
"""Rewrite requirements*.lock from requirements*.in: exact versions and wheel hashes for CPython 3.10 to 3.13 on x86-64 Linux.

Usage: tools/renew_lock.py UV [NAME.in ...]   UV is the path of the `uv` program (from its wheel, in any environment).
The lock lists every package that gets installed (pip runs with --no-deps --require-hashes --only-binary :all:) and says
nothing about where it is downloaded from. A line `# without: NAME…` of a requirements file leaves out what others ask for.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON_TAG = re.compile(r"-(?:py3|py2\.py3|cp310|cp311|cp312|cp313|cp3\d+-abi3)\b")


def fits(wheel: str) -> bool:
    """Whether a wheel file name can be installed by one of the supported interpreters."""
    platform = wheel.removesuffix(".whl").rsplit("-", 1)[1]
    free_threaded = re.search(r"-cp\d+t-", wheel)
    return (
        bool(PYTHON_TAG.search(wheel)) and not free_threaded and (platform == "any" or ("manylinux" in platform and "x86_64" in platform))
    )


def marker_of(package: dict) -> str | None:
    """Environment marker of a package without what is always true here; None if it is never installed."""
    marker = package.get("marker", "")
    if "win32" in marker:
        return None
    terms = [t for t in marker.split(" and ") if t not in ("", "python_full_version >= '3.10'", "implementation_name != 'PyPy'")]
    return " and ".join(re.sub(r"python_full_version (\S+) '(\d+\.\d+)(?:\.\*)?'", r"python_version \1 '\2'", t) for t in terms)


def lock(uv: str, source: Path) -> str:
    """The text of the lock file of one requirements file."""
    command = [
        uv,
        "pip",
        "compile",
        "--universal",
        "--python-version",
        "3.10",
        "--no-config",
        "--format",
        "pylock.toml",
        "--no-annotate",
        "--no-header",
        "-o",
        "pylock.toml",
        str(source),
    ]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    Path("pylock.toml").unlink(missing_ok=True)
    left_out = {name for line in re.findall(r"^# without: (.*)$", source.read_text(), re.M) for name in line.split()}
    lines = [f"# Made by tools/renew_lock.py from {source.name}; do not edit."]
    for package in tomllib.loads(text)["packages"]:
        marker = marker_of(package)
        if marker is None or package["name"] in left_out:
            continue
        hashes = sorted({w["hashes"]["sha256"] for w in package.get("wheels", []) if fits(w["url"].rsplit("/", 1)[1])})
        if not hashes:
            raise SystemExit(f"renew_lock: {package['name']} {package['version']} has no wheel for x86-64 Linux")
        pin = f"{package['name']}=={package['version']}" + (f" ; {marker}" if marker else "")
        lines += [pin + " \\"] + [f"    --hash=sha256:{h} \\" for h in hashes[:-1]] + [f"    --hash=sha256:{hashes[-1]}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sources = [ROOT / name for name in sys.argv[2:]] or sorted(ROOT.glob("requirements*.in"))
    for source in sources:
        source.with_suffix(".lock").write_text(lock(sys.argv[1], source))
        print(source.with_suffix(".lock").name)


if __name__ == "__main__":
    main()
