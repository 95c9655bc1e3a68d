"""Pictures of the study of plans that hold."""

from __future__ import annotations

import math

from .experiment import new_figure, save_figure
from .holding_feedback import executed_rows, followed_plants
from .holding_study import Study, median_of_all, wilson


def draw_shares(axes, study: Study, names: list[str], counts: dict[str, list[tuple[int, int]]]) -> None:
    """A dot with Wilson's interval per system and column of `counts`."""
    for k, (label, own) in enumerate(counts.items()):
        shown = [(row, good, count) for row, (good, count) in enumerate(own) if count]
        middle = [100 * good / count for _, good, count in shown]
        ends = [[100 * end for end in wilson(good, count)] for _, good, count in shown]
        spans = [
            [max(x - low, 0) for x, (low, _) in zip(middle, ends)],
            [max(high - x, 0) for x, (_, high) in zip(middle, ends)],
        ]  # 0 but for rounding
        axes.errorbar(
            middle,
            [row + 0.22 * (k - (len(counts) - 1) / 2) for row, _, _ in shown],
            xerr=spans,
            fmt="o",
            markersize=3.5,
            linewidth=0.9,
            label=label,
        )
    axes.set(xlim=(0, 104), ylim=(len(names) - 0.5, -0.5))
    axes.set_yticks(range(len(names)), names)


def tried(study: Study) -> list[str]:
    """Systems with plans."""
    return [name for name in study.systems() if study.rows(name)]


def executed(study: Study) -> list[str]:
    """Systems whose plans were executed under disturbances."""
    return [name for name in study.systems() if any(executed_rows(study, name, plant) for plant in followed_plants(study))]


def draw_found(study: Study) -> None:
    """Shares and times per system beside what was asked; nothing where no plan was made."""
    names, bars = tried(study), study.settings["bars"]
    if not names:
        return
    figure, ((found, arrive, times),) = new_figure(3)
    figure.set_size_inches(12, 0.6 + 0.3 * len(names))
    draw_shares(found, study, names, {"found": [(len(study.found(name)), len(study.rows(name))) for name in names]})
    for row, name in enumerate(names):
        found.plot(100 * study.systems()[name].get("found_bar", bars["found"]), row, "|", color="black", markersize=9)
    found.set_xlabel("found [%]")
    draw_shares(arrive, study, names, {plant: [study.arrivals(name, "default", plant) for name in names] for plant in study.bar_plants()})
    arrive.axvline(100 * bars["arrive"], color="black", linestyle=":")
    arrive.set_xlabel("of those found, arrive [%]")
    arrive.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    for row, name in enumerate(names):
        middle, limit = median_of_all(study, name), study.settings["plan"]["time_limit_s"]
        times.plot(middle if math.isfinite(middle) else limit, row, "o" if math.isfinite(middle) else ">", color="C0", markersize=3.5)
        times.plot(bars["first_holding_p50_s"][study.systems()[name]["group"]], row, "|", color="black", markersize=9)
    times.set(xscale="log", ylim=(len(names) - 0.5, -0.5), xlabel="first plan that holds, p50 of all seeds [s]; > never")
    for axes in (arrive, times):
        axes.set_yticks(range(len(names)), [""] * len(names))
    save_figure(figure, "plans_that_hold")


def draw_executed(study: Study) -> None:
    """Shares that arrive under disturbances, open loop and with the controllers, in one panel per simulator; nothing where none was executed."""
    plants, names = followed_plants(study), executed(study)
    simulators = list(dict.fromkeys(how["plant"] for how in plants.values()))
    if not names:
        return
    figure, (panels,) = new_figure(len(simulators))
    figure.set_size_inches(5.5 * len(simulators), 0.6 + 0.35 * len(names))
    for k, (axes, simulator) in enumerate(zip(panels, simulators)):
        shown = {plant: [executed_rows(study, name, plant) for name in names] for plant, how in plants.items() if how["plant"] == simulator}
        counts = {plant: [(sum(row["arrived"] for row in rows), len(rows)) for rows in own] for plant, own in shown.items()}
        draw_shares(axes, study, names, counts)
        for row, name in enumerate(names):
            asked = study.settings["bars"].get("feedback", {}).get("arrive", {}).get(study.systems()[name]["group"])
            if asked is not None:
                axes.plot(100 * asked, row, "|", color="black", markersize=9)
        axes.set_xlabel(f"arrive, {simulator} [%]")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4)
        if k > 0:
            axes.set_yticks(range(len(names)), [""] * len(names))
    save_figure(figure, "plans_executed")
