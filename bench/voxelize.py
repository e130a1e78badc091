#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `lamina voxelize` on a mesh of about two million triangles in a box of 512^3 cells.

    bench/voxelize.py [LAMINA] [--triangles N] [--cells N] [--repeat N]

The mesh is a sphere with bumps, written as binary STL beside the results; volume and closedness are known."""
import argparse
import json
import math
import os
import struct
import subprocess
import tempfile


def bumpy(theta, phi):
    return 1.0 + 0.1 * math.sin(8 * theta) * math.cos(6 * phi)


def point(theta, phi):
    r = bumpy(theta, phi)
    return (r * math.sin(theta) * math.cos(phi), r * math.sin(theta) * math.sin(phi), r * math.cos(theta))


def write_mesh(path, triangles):
    rings = max(2, int(math.sqrt(triangles / 4)))
    around = 2 * rings
    rows = []
    for i in range(rings + 1):
        theta = math.pi * i / rings
        pole = i in (0, rings)
        rows.append([point(theta, 0.0 if pole else 2 * math.pi * j / around) if not pole
                     else (0.0, 0.0, bumpy(theta, 0.0) * (1 if i == 0 else -1)) for j in range(around)])
    facet = struct.Struct("<12fH")
    count = 0
    with open(path, "wb") as file:
        file.write(b"bumpy sphere".ljust(80) + struct.pack("<I", 0))
        for i in range(rings):
            for j in range(around):
                a, b = rows[i][j], rows[i][(j + 1) % around]
                c, d = rows[i + 1][j], rows[i + 1][(j + 1) % around]
                for t in ((a, c, b), (b, c, d)):
                    if len(set(t)) == 3:
                        file.write(facet.pack(0, 0, 0, *t[0], *t[1], *t[2], 0))
                        count += 1
        file.seek(80)
        file.write(struct.pack("<I", count))
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("lamina", nargs="?", default="lamina")
    parser.add_argument("--triangles", type=int, default=2000000)
    parser.add_argument("--cells", type=int, default=508)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bumpy.stl")
        count = write_mesh(path, arguments.triangles)
        print(f"{count} triangles, {os.path.getsize(path) / 1e6:.0f} MB")
        for _ in range(arguments.repeat):
            output = subprocess.run([arguments.lamina, "voxelize", path, "--cells", str(arguments.cells), "--json"],
                                    check=True, capture_output=True).stdout
            result = json.loads(output)
            cells = result["cells"]
            error = cells["volume_m3"] / result["body"]["volume_m3"] - 1
            print(f"box {cells['box']}: {cells['solid']} solid, volume {100 * error:+.4f} %, "
                  f"read {result['read_seconds']:.2f} s, voxelize {cells['voxelize_seconds']:.2f} s")


if __name__ == "__main__":
    main()
