"""Convex parts of a mesh by CoACD, for deft/collision/decomposition/coacd_process.

Usage: coacd_parts.py IN OUT CONCAVITY PARTS VERSION

IN holds the numbers of corners and triangles (64-bit integers), the corners (doubles) and the triangles (32-bit integers);
OUT gets the number of parts and each of them in the same form. PARTS 0: as many as the concavity asks for. Another VERSION of CoACD
is refused: it would make other parts of the same mesh.
"""

import sys
from importlib import metadata
from pathlib import Path

import coacd
import numpy as np

CORNERS = 64  # of a part at most: contacts are found by walking over them
SEED = 0


def main(source: str, target: str, concavity: str, parts: str, version: str) -> None:
    if (installed := metadata.version("coacd")) != version:
        sys.exit(f"version {installed} is installed, {version} is needed: python -m pip install coacd=={version}")
    data = Path(source).read_bytes()
    corners, triangles = (int(n) for n in np.frombuffer(data, np.int64, 2))
    points = np.frombuffer(data, np.float64, 3 * corners, 16).reshape(-1, 3)
    faces = np.frombuffer(data, np.int32, 3 * triangles, 16 + points.nbytes).reshape(-1, 3)
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(points.copy(), faces.copy()),
        threshold=float(concavity),
        max_convex_hull=int(parts) or -1,
        decimate=True,
        max_ch_vertex=CORNERS,
        seed=SEED,
    )
    with open(target, "wb") as out:
        out.write(np.int64(len(found)).tobytes())
        for part_points, part_faces in found:
            out.write(np.array([len(part_points), len(part_faces)], np.int64).tobytes())
            out.write(np.ascontiguousarray(part_points, np.float64).tobytes())
            out.write(np.ascontiguousarray(part_faces, np.int32).tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
