#!/usr/bin/env python3
"""Doxygen's view of a header: comments beside declarations count as their documentation. Lines keep their numbers.

Usage: doxygen_filter.py HEADER     prints it (INPUT_FILTER of the Doxyfile)

- A `//` comment beside a declaration at namespace or class scope, with the lines that go on below it, documents every name that
  the line declares: `double low = 0, high = 1;  // [N]` gives both `/** [N] */`. Comments in bodies and private parts stay.
- Destructors, copies and moves without a comment are called so.
- The first header of a folder says which folder its namespace has, so that Doxygen looks at free functions at all.
Everything else, `///` above all, passes as it is.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = re.compile(r"\b(struct|class|union)\b(?!.*\b(struct|class|union|enum)\b.*\()")
SPECIAL = re.compile(r"^\s*(?:virtual |constexpr |explicit )*(?:~\w+\s*\(\)|(\w+)\((?:const )?\1\s*&&?\s*\w*\)|(?:\w+::)*(\w+)\s*&\s*operator=\((?:const )?\2\s*&&?\s*\w*\))")


@dataclass
class Scope:
    """What an opening brace began: a namespace, record, enum, or something else (a body, an initialiser)."""

    kind: str


def kind_of(head: str) -> str:
    """Kind of the scope whose opening brace follows the text `head`."""
    head = re.sub(r"\btemplate\s*<[^{;]*?>(?=\s*(?:struct|class|union|requires|\w))", "", head)
    if re.search(r"\bnamespace\b|extern \"C\"", head):
        return "namespace"
    if re.search(r"\benum\b", head):
        return "enum"
    if re.search(r"\b(?:struct|class|union)\b", head) and "(" not in re.sub(r"alignas\([^)]*\)", "", head) and "=" not in head:
        return "record"
    return "other"


@dataclass
class Line:
    """A line of code: where it may take documentation, and the comment beside it."""

    starts: list[int]  # columns at which a declaration, or another name of it, begins
    whole: bool  # it begins a declaration: nothing is open from the line above
    comment: int  # column of a // that is no ///, or -1
    empty: bool  # no code


class Reader:
    """Follows braces, strings and comments through a header."""

    def __init__(self) -> None:
        self.scopes = [Scope("namespace")]
        self.head = ""  # of the declaration that is open
        self.parens = 0
        self.angles = 0
        self.in_comment = False

    def declares(self) -> bool:
        return self.scopes[-1].kind != "other" and self.parens == 0

    def read(self, line: str) -> Line:
        """Reads the next line."""
        out = Line([], self.declares() and not self.head.strip(), -1, True)
        if line.lstrip().startswith("#"):
            return Line([], False, -1, False)
        k = 0
        while k < len(line):
            if self.in_comment:
                end = line.find("*/", k)
                self.in_comment = end < 0
                k = len(line) if end < 0 else end + 2
                continue
            two, char = line[k : k + 2], line[k]
            if two == "//":
                out.comment = -1 if re.match(r"///(?!/)|//!", line[k:]) else k
                break
            if two == "/*":
                self.in_comment, k = True, k + 2
                continue
            if char in "\"'" and not (char == "'" and k and line[k - 1].isalnum()):
                end = k + 1
                while end < len(line) and line[end] != char:
                    end += 2 if line[end] == "\\" else 1
                if self.declares() and not self.head.strip():
                    out.starts.append(k)
                self.head += line[k : end + 1]
                out.empty, k = False, end + 1
                continue
            if not char.isspace():
                out.empty = False
                if self.declares() and not self.head.strip() and char not in "};{":
                    out.starts.append(k)
            self.take(line, k, out)
            k += 1
        self.head += " "
        return out

    def take(self, line: str, k: int, out: Line) -> None:
        """One character of code."""
        char, kind = line[k], self.scopes[-1].kind
        if char == "{":
            self.scopes.append(Scope(kind_of(self.head) if kind != "other" and self.parens == 0 else "other"))
            self.head = "" if self.scopes[-1].kind != "other" else self.head + "{"
        elif char == "}":
            closed = self.scopes.pop().kind if len(self.scopes) > 1 else "namespace"
            rest = line[k + 1 :].lstrip()
            if self.scopes[-1].kind == "other":
                return
            if closed == "other":
                # An initialiser goes on (x{1}, y{2};), the body of a function is the end.
                self.head = self.head + "}" if rest[:1] in (";", ",", ")", ".") else ""
            else:
                self.head = "" if closed == "namespace" else "}"
                if closed != "namespace" and rest[:1] not in (";", "/", ""):
                    out.starts.append(k + 1 + len(line[k + 1 :]) - len(rest))  # the variable of an inline record
        elif char == "(":
            self.parens += 1
            self.head += char
        elif char == ")":
            self.parens -= 1
            self.head += char
        elif char == ";" and kind != "other" and self.parens == 0:
            self.head = ""
        elif char == "," and kind == "enum" and self.parens == 0:
            self.head = ""
        elif char == "," and kind == "record" and self.parens == 0 and self.names_follow(line, k):
            out.starts.append(k + 1)
            self.head += char
        elif char == ":" and kind == "record" and self.head.strip() in ("public", "private", "protected"):
            self.head = ""
            out.starts.clear()
        elif kind != "other" or self.scopes[-1].kind != "other":
            self.head += char

    def names_follow(self, line: str, k: int) -> bool:
        """Whether a comma at record scope parts the names of one declaration, not the arguments of a template or the bases of a class."""
        text = self.head
        opened = text.count("<") - text.count(">") + 2 * text.count("->") - text.count("->")
        return opened <= 0 and not re.search(r"\b(?:struct|class|using|operator)\b", text) and "(" not in text.split("=")[0]


def documented(text: str) -> str:
    """The header with `/** … */` before everything that a comment beside it describes."""
    lines, out, reader, k = text.split("\n"), [], Reader(), 0
    while k < len(lines):
        line, read = lines[k], reader.read(lines[k])
        k += 1
        if read.comment < 0 or read.empty or not read.starts:
            special = SPECIAL.match(line) if read.whole and read.comment < 0 else None
            if special and not (out and out[-1].lstrip().startswith("//")):
                word = "Destructor." if "~" in special[0] else "Move." if "&&" in special[0] else "Copy."
                line = line[: read.starts[0]] + f"/** {word} */ " + line[read.starts[0] :] if read.starts else line
            out.append(line)
            continue
        said, blank = [line[read.comment + 2 :].strip()], 0
        while k < len(lines) and re.match(r" {%d}//(?!/)" % read.comment, lines[k]):
            said.append(lines[k].strip()[2:].strip())
            k, blank = k + 1, blank + 1
        note = f"/** {' '.join(said).replace('*/', '* /')} */ "
        for column in reversed(read.starts):
            line = line[:column] + note + line[column:]
        code = line[: len(line) - len(lines[k - 1 - blank]) + read.comment].rstrip()
        out += [code] + [""] * blank
    return "\n".join(out)


def with_namespace(text: str, path: Path) -> str:
    """In the first header of a folder: the folder that the namespace has."""
    folder = path.parent
    if path != min(folder.glob("*.hpp")):
        return text
    page = folder / "README.md"
    title = page.read_text().split("\n", 1)[0].lstrip("# ") if page.exists() else ""
    name = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder.name
    note = f"/** `{name}`{': ' + title if title else ''}\n" if False else f"/** `{name}`{': ' + title if title else ''}. */ "
    return re.sub(r"(?m)^(?=namespace [\w:]+ \{)", note.replace("\\", r"\\"), text, count=1)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    path = Path(sys.argv[1]).resolve()
    print(with_namespace(documented(path.read_text()), path), end="")


if __name__ == "__main__":
    main()
