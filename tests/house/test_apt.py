"""The list of system packages is exactly what a finished build opened."""

import shutil

import check_apt
import pytest

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-query"), reason="the list names Debian packages; this machine has no dpkg")


def test_list_is_what_the_build_opened(build):
    opened = check_apt.owners(check_apt.opened_files(build))
    assert len(opened) > 100
    assert check_apt.problems_of(check_apt.listed_packages(), opened) == []


def test_forgotten_and_idle_packages_are_found(build):
    opened = check_apt.owners(check_apt.opened_files(build))
    listed = check_apt.listed_packages()
    forgotten = check_apt.problems_of([p for p in listed if p != "libyaml-dev"], opened)
    assert len(forgotten) == 1 and forgotten[0].startswith("libyaml-dev is opened (")
    assert check_apt.problems_of([*listed, "coreutils"], opened) == ["coreutils is installed by ./run, but the build opens nothing of it"]
