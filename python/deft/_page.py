"""The page that shows a run in a browser."""

from __future__ import annotations

import sys
from pathlib import Path

from ._plan import Plan
from ._run import Run


def page(run: Run | Plan, beside: Run | Plan | None = None) -> str:
    """HTML that shows a run or a plan with its tree, on its own and without a network; beside: a second one of the same bodies."""
    from tempfile import TemporaryDirectory  # takes as long to import as the rest of deft; webbrowser likewise

    with TemporaryDirectory() as folder:
        first = _opened(run, Path(folder, "run"))
        second = _opened(beside, Path(folder, "beside")) if beside is not None else None
        place = str(first._folder) if first._folder is not None else ""
        names = (_title(beside, "second"), _title(run, "first")) if beside is not None else ("", "")
        return first._core._page(place, second._core if second is not None else None, *names)


def _opened(run: Run | Plan, folder: Path) -> Run:
    if isinstance(run, Run):
        return run
    if not isinstance(run, Plan):
        raise TypeError(f"run: expected a deft.Run or a deft.Plan, got {type(run).__name__}")
    run.save(folder)
    return Run.open(folder)


def _title(run: Run | Plan | None, otherwise: str) -> str:
    folder = run._folder if isinstance(run, Run) else None
    return folder.resolve().name if folder is not None else otherwise


def show(run: Run | Plan, beside: Run | Plan | None = None, path: str | Path | None = None) -> Path:
    """Writes the page (to `path`, or a temporary file) and opens it: inline in a notebook, else in the desktop's browser."""
    from tempfile import mkdtemp

    html = page(run, beside)
    place = Path(path) if path is not None else Path(mkdtemp(prefix="deft_"), "run.html")
    place.write_text(html, encoding="utf-8")
    if _in_notebook():
        from html import escape

        from IPython.display import HTML, display  # type: ignore[import-not-found]

        display(HTML(f'<iframe srcdoc="{escape(html)}" style="width: 100%; height: 600px; border: 0"></iframe>'))
    else:
        import webbrowser

        webbrowser.open(place.resolve().as_uri())
    return place


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython  # type: ignore[import-not-found]

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"
