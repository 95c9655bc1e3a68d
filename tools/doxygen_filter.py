#!/usr/bin/env python3
"""Doxygen's view of a header: comments beside declarations count as their documentation. Lines keep their numbers.

Usage: doxygen_filter.py HEADER     prints it (INPUT_FILTER of the Doxyfile)

- A `//` comment beside a declaration in a namespace, class or enum, with the lines that go on below it, documents every name that
  its line declares: `double low = 0, high = 1;  // [N]` gives both `/** [N] */`. Comments within bodies stay comments.
- Destructors, copies and moves without a comment are called so.
- The first header of a folder tells which folder its namespace is, because Doxygen passes over the functions of unknown namespaces.
Everything else, `///` above all, passes as it is.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECIAL = re.compile(
    r"\s*(?:virtual |constexpr )*(?:~\w+\s*\(\)|(\w+)\((?:const )?\1\s*&&?\s*\w*\)|(\w+)\s*&\s*operator=\((?:const )?\2\s*&&?\s*\w*\))"
)


def kind_of(head: str) -> str:
    """What the brace after `head` opens: "namespace", "record", "enum" or "body" (of a function, or an initialiser)."""
    head = re.sub(r"\btemplate\s*<[^;{]*?>(?=\s*(?:struct|class|union|requires|\w))", "", head)
    if re.search(r"\bnamespace\b|extern \"C\"", head):
        return "namespace"
    if re.search(r"\benum\b", head):
        return "enum"
    return "record" if re.search(r"\b(?:struct|class|union)\b", head) and not re.search(r"[(=]", head) else "body"


@dataclass
class Line:
    """What a line of code has for documentation."""

    names: list[int] = field(default_factory=list)  # columns at which a declaration begins, or another name of it
    comment: int = -1  # column of a // that is no ///


class Reader:
    """Follows braces, strings and comments through a header."""

    def __init__(self) -> None:
        self.scopes = ["namespace"]
        self.head = ""  # of the declaration that is open
        self.parens = 0
        self.in_comment = False
        self.name_is_due = False  # after a comma between names

    def read(self, line: str) -> Line:
        """Reads the next line."""
        out = Line()
        if line.lstrip().startswith("#") or re.fullmatch(r"\s*[A-Z][A-Z0-9_]+\(.*\)\s*", line):  # a macro stands for whole declarations
            return out
        k = 0
        while k < len(line):
            if self.in_comment:
                end = line.find("*/", k)
                self.in_comment = end < 0
                k = len(line) if end < 0 else end + 2
            elif line.startswith("//", k):
                out.comment = -1 if re.match(r"///(?!/)|//!", line[k:]) else k
                break
            elif line.startswith("/*", k):
                self.in_comment, k = True, k + 2
            else:
                end = self.end_of_string(line, k)
                self.take(line, k, end, out)
                k = end
        self.head += " "
        return out

    @staticmethod
    def end_of_string(line: str, k: int) -> int:
        """Where the string that begins at k ends, or k + 1."""
        if line[k] not in "\"'" or (line[k] == "'" and k > 0 and line[k - 1].isalnum()):  # 1'000
            return k + 1
        end = k + 1
        while end < len(line) and line[end] != line[k]:
            end += 2 if line[end] == "\\" else 1
        return min(end + 1, len(line))

    def take(self, line: str, k: int, end: int, out: Line) -> None:
        """A character of code, or a string."""
        text, scope = line[k:end], self.scopes[-1]
        if scope != "body" and self.parens == 0 and not text.isspace() and text not in "{};,":
            if not self.head.strip() or self.name_is_due:
                out.names.append(k)
            self.name_is_due = False
        if text == "{":
            self.scopes.append(kind_of(self.head) if scope != "body" and self.parens == 0 else "body")
            self.head = self.head + "{" if self.scopes[-1] == "body" else ""
        elif text == "}" and len(self.scopes) > 1:
            self.close(line[end:].lstrip(), self.scopes.pop())
        elif scope == "body":
            return
        elif (text == ";" and self.parens == 0) or (text == "," and scope == "enum" and self.parens == 0):
            self.head = ""
        elif text == ":" and self.head.strip() in ("public", "private", "protected"):
            self.head, out.names = "", []
        else:
            self.name_is_due |= text == "," and self.parens == 0 and self.parts_names()
            self.parens += {"(": 1, ")": -1}.get(text, 0)
            self.head += text

    def close(self, rest: str, closed: str) -> None:
        """After the end of a scope."""
        if self.scopes[-1] == "body":
            return
        if closed == "body":  # an initialiser goes on (x{1}, y{2};), the body of a function is the end
            self.head = self.head + "}" if rest[:1] in (";", ",", ")", ".") and rest else ""
        else:
            self.head = "" if closed == "namespace" else "}"
            self.name_is_due = closed in ("record", "enum") and rest[:1] not in (";", "/", "")  # enum {…} method;

    def parts_names(self) -> bool:
        """Whether a comma parts names of a declaration, not arguments of a template or bases of a class."""
        head = self.head.replace("->", "")
        return (
            head.count("<") <= head.count(">")
            and not re.search(r"\b(?:struct|class|using|operator|template)\b", head)
            and "(" not in head.split("=")[0]
        )


def documented(text: str) -> str:
    """The header with `/** … */` before everything that a comment beside it describes."""
    lines, reader, k = text.split("\n"), Reader(), 0
    out: list[str] = []
    while k < len(lines):
        line, read = lines[k], reader.read(lines[k])
        k += 1
        if not read.names or (read.comment < 0 and (not SPECIAL.match(line) or out[-1].lstrip().startswith("//"))):
            out.append(line)
            continue
        if read.comment < 0:
            said = ["Destructor." if "~" in line else "Move." if "&&" in line else "Copy."]
        else:
            said = [line[read.comment + 2 :].strip()]
            line = line[: read.comment].rstrip()
        more = 0
        while read.comment >= 0 and k < len(lines) and re.match(rf" {{{read.comment}}}//(?!/)", lines[k]):
            said.append(lines[k].strip()[2:].strip())
            k, more = k + 1, more + 1
        for column in reversed(read.names):
            line = line[:column] + f"/** {' '.join(said).replace('*/', '* /')} */ " + line[column:]
        out += [line] + [""] * more
    return "\n".join(out)


def with_namespace(text: str, path: Path) -> str:
    """In the first header of a folder: the folder that the namespace has."""
    folder = path.parent
    if path != min(folder.glob("*.hpp")):
        return text
    page = folder / "README.md"
    title = ": " + page.read_text().split("\n", 1)[0].lstrip("# ") if page.exists() else ""
    name = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder.name
    return re.sub(r"(?m)^(?=namespace [\w:]+ \{)", lambda _: f"/** `{name}`{title}. */ ", text, count=1)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    path = Path(sys.argv[1]).resolve()
    print(with_namespace(documented(path.read_text()), path), end="")


if __name__ == "__main__":
    main()
