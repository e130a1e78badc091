#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plots what `lamina bench halo --json` found as Figure 5(a) of arXiv 2503.07898: speed of the disaggregated layout and
of SoA over the edge of the box, without overlap, and the model's time of an exchange beside the measured one.

    halo_figure.py RESULT.json PICTURE.svg

RESULT.json: a file of bench/results, or the output of one run. Needs gnuplot.
"""
import json
import subprocess
import sys

LAYOUTS = {"disaggregated": "disaggregated", "soa": "SoA"}


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    runs = found.get("runs", [found])
    return [row for run in runs for row in run["rows"] if row["ranks"] == 2 and row["partitions"] == 2]


def curves(rows, value, scale=1.0):
    """The points of each lattice and layout at the sizes that all layouts have, and a title."""
    made = []
    for lattice in ("d3q19", "d3q27"):
        sizes = set.intersection(*({row["cells"] for row in rows if row["lattice"] == lattice and row["layout"] == layout}
                                   for layout in LAYOUTS))
        for layout, title in LAYOUTS.items():
            points = {}
            for row in rows:
                if row["lattice"] == lattice and row["layout"] == layout and row["cells"] in sizes:
                    points.setdefault(round(row["cells"] ** (1 / 3)), row[value] * scale)
            if points:
                made.append((f"{lattice} {title}", sorted(points.items())))
    return made


def draw(panels, picture):
    script = [f"set terminal svg size 900,380 font 'sans,11'\nset output '{picture}'\nset multiplot layout 1,2",
              "set grid; set key outside bottom center horizontal maxcols 2; set xlabel 'cells along an axis'"]
    for label, series, logarithmic in panels:
        script.append(f"set ylabel '{label}'; {'set' if logarithmic else 'unset'} logscale y")
        plots = []
        for i, (title, points, style) in enumerate(series):
            body = "\n".join(f"{edge} {value:.6g}" for edge, value in points)
            script.append(f"$data{i} << END\n{body}\nEND")
            plots.append(f"$data{i} with {style} title '{title}'")
        script.append("plot " + ", ".join(plots))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = rows_of(sys.argv[1])
    if not rows:
        sys.exit(f"{sys.argv[1]}: no rows of two ranks with one slab each")
    speed = [(title, points, f"linespoints lw 2 pt 7 ps 0.6 lc {i + 1}")
             for i, (title, points) in enumerate(curves(rows, "mlups_no_overlap"))]
    model = [(f"{title}, model", points, f"lines lw 2 lc {i + 1}")
             for i, (title, points) in enumerate(curves(rows, "model_us"))]
    measured = [(f"{title}, measured", points, f"points pt 7 ps 0.7 lc {i + 1}")
                for i, (title, points) in enumerate(curves(rows, "measured_us"))]
    draw([("million cells a second", speed, False), ("microseconds an exchange", model + measured, True)], sys.argv[2])


if __name__ == "__main__":
    main()
