"""The published experiments that deft repeats: each module measures (numbers, tested) and draws (a page of docs/reproductions)."""
