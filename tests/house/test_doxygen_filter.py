"""What Doxygen reads of comments beside declarations."""

import doxygen_filter
import pytest

# header, what Doxygen sees
CASES = {
    "a member": ("struct S {\n  int a = 0;  // count\n};", "struct S {\n  /** count */ int a = 0;\n};"),
    "every name of a line": (
        "struct S {\n  double low{0}, high = f(1, 2);  // [N]\n};",
        "struct S {\n  /** [N] */ double low{0}, /** [N] */ high = f(1, 2);\n};",
    ),
    "a comment that goes on": (
        "struct S {\n  int a;  // one\n          // two\n  int b;\n};",
        "struct S {\n  /** one two */ int a;\n\n  int b;\n};",
    ),
    "arguments of templates are no names": (
        "struct S {\n  std::map<int, double> m;  // by number\n};",
        "struct S {\n  /** by number */ std::map<int, double> m;\n};",
    ),
    "enumerators": ("enum class E {\n  kA,  // first\n  kB  // last\n};", "enum class E {\n  /** first */ kA,\n  /** last */ kB\n};"),
    "a record on one line": ("struct Box { int size; };  // full", "/** full */ struct Box { /** full */ int size; };"),
    "a record that opens": ("struct S {  // of plates\n};", "/** of plates */ struct S {\n};"),
    "a function with its body": (
        "class C {\n public:\n  int n() const { return n_; }  // rows\n};",
        "class C {\n public:\n  /** rows */ int n() const { return n_; }\n};",
    ),
    "an enum and its variable": (
        "struct S {\n  enum class M { kA, kB } m = M::kA;  // how\n};",
        "struct S {\n  /** how */ enum class M { /** how */ kA, /** how */ kB } /** how */ m = M::kA;\n};",
    ),
    "special members": (
        "class C {\n  ~C();\n  C(C&&) noexcept;\n  C& operator=(const C&) = delete;\n};",
        "class C {\n  /** Destructor. */ ~C();\n  /** Move. */ C(C&&) noexcept;\n  /** Copy. */ C& operator=(const C&) = delete;\n};",
    ),
    "a member after a macro": (
        "struct S {\n  LIST_OF(POINTERS)\n  int a;  // own\n};",
        "struct S {\n  LIST_OF(POINTERS)\n  /** own */ int a;\n};",
    ),
    "a function after a body": ("int f() { return 1; }\nint g();  // two", "int f() { return 1; }\n/** two */ int g();"),
}
UNCHANGED = {
    "a body": "inline int f() {\n  int a = 0;  // local\n  return a;\n}",
    "a line of its own": "struct S {\n  // about what follows\n  int a;\n};",
    "documentation": "/// One.\nint f();\n/// Two.\nstruct S {\n  int a;  ///< three\n};",
    "the end of a namespace": "namespace deft {\n}  // namespace deft",
    "an include": "#include <vector>  // for f",
    "the second line of a declaration": "void f(int a,\n       int b);  // both",
    "no comment": 'const char* kUrl = "a//b";',
    "documented special members": "class C {\n  /// Waits.\n  ~C();\n};",
    "an initialiser of several lines": "const int k[] = {\n    1,  // one\n    2,  // two\n};",
    "a lambda": "const auto f = [](int x) {\n  return x;  // as it is\n};",
}


@pytest.mark.parametrize("case", CASES)
def test_comments_beside_declarations_are_documentation(case):
    header, seen = CASES[case]
    assert doxygen_filter.documented(header) == seen


@pytest.mark.parametrize("case", UNCHANGED)
def test_other_comments_are_not(case):
    assert doxygen_filter.documented(UNCHANGED[case]) == UNCHANGED[case]


def test_every_header_keeps_its_lines(root):
    for path in sorted((root / "src/deft").rglob("*.hpp")):
        text = path.read_text()
        assert doxygen_filter.documented(text).count("\n") == text.count("\n"), path


def test_the_first_header_of_a_folder_names_it(tmp_path):
    (tmp_path / "README.md").write_text("# The module\n")
    for name in ("a.hpp", "b.hpp"):
        (tmp_path / name).write_text("namespace deft::x {\n}\n")
    seen = [doxygen_filter.with_namespace((tmp_path / n).read_text(), tmp_path / n) for n in ("a.hpp", "b.hpp")]
    assert seen == [f"/** `{tmp_path.name}`: The module. */ namespace deft::x {{\n}}\n", "namespace deft::x {\n}\n"]
