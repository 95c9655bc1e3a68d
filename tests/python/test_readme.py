"""The example of python/README.md runs as printed."""

import re

from conftest import ROOT

import deft


def test_the_example_runs(monkeypatch):
    shown = []
    monkeypatch.setattr(deft, "show", lambda run: shown.append(deft.page(run)))
    code = re.search(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.DOTALL)
    assert code is not None
    names: dict = {}
    exec(compile(code.group(1), "python/README.md", "exec"), names)
    assert names["run"].arrived and names["many"].q.shape == (64, 7) and "half_turn" in shown[0]
