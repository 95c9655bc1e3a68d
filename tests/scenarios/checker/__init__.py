"""An independent check of the complementarity models: it rebuilds every step of a run from the scene file by formulas of its own."""
