#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns what devices.sh wrote into one result file and plots, with the model's prediction beside each row.

    devices.py LINES.jsonl DATE MACHINE RESULT.json PLOTS_FOLDER

The model of a step: private planes and the exchange run at the same time, then the boundary planes.
    t = max(t_slab (1 - 2/planes), t_exchange) + t_slab 2/planes,   t_exchange = t_meet + n t_setup + bytes / b
t_slab is measured on one device. t_setup and b come from the copies between two devices ("peer" lines). On streams one
host thread starts all messages, so n counts those of all slabs; in a graph n is what one slab sends (alpha). t_meet,
what devices need to hear of each other, is taken from the smallest disaggregated row of each way; every other row is
predicted. Stores into the neighbour: t = t_slab + t_meet. Steps in which nothing hides the exchange: their sum.
"""
import json
import os
import statistics
import subprocess
import sys

ELEMENT_BYTES = 4
LABELS = {
    ("soa", "messages@streams"): "SoA, messages",
    ("disaggregated", "messages@streams"): "disaggregated, messages",
    ("soa", "messages"): "SoA, messages in a graph",
    ("disaggregated", "messages"): "disaggregated, messages in a graph",
    ("plane", "direct@streams"): "plane order, direct stores",
    ("plane", "direct"): "plane order, direct stores in a graph",
    ("plane", "direct@meetings"): "plane order, direct stores, devices that meet",
}


def parse(line):
    words = line["row"].split(":") + [""] * 3
    box = [int(n) for n in words[5].split("x")]
    box = box * 3 if len(box) == 1 else box
    return {
        "lattice": words[0], "streaming": words[3], "layout": words[4], "cells": box, "way": words[7],
        "devices": line["devices"], "mlups": line["mlups"][0], "mlups_min": line["mlups"][1],
        "mlups_max": line["mlups"][2], "measured_us": line["us_per_step"][0], "alpha": line["alpha"],
        "beta_values": line["beta_values"],
    }


class Model:
    def __init__(self, rows, peers):
        self.slabs = {(r["lattice"], r["streaming"], r["layout"], tuple(r["cells"])): r["measured_us"]
                      for r in rows if r["devices"] == 1}
        self.gb_per_s = statistics.median(p["gb_per_s"][0] for p in peers)
        self.setup = {True: statistics.median(p["copy_us"][0] for p in peers),
                      False: statistics.median(p["graph_copy_us"][0] for p in peers)}
        self.meet = {}
        for way in ("messages@streams", "messages", "direct@streams", "direct", "direct@meetings", "plain@streams"):
            layout = "disaggregated" if way.startswith("messages") else "plane"
            known = [r for r in rows if r["way"] == way and r["layout"] == layout and r["streaming"] == "two_grid"
                     and r["lattice"] == "d3q19" and r["devices"] > 1 and self.slab(r) is not None]
            if known:
                first = min(known, key=lambda r: r["cells"][0])
                self.meet[way] = 0.0
                low, high = 0.0, first["measured_us"]
                while high - low > 1e-3:  # the step grows with t_meet: bisection
                    self.meet[way] = (low + high) / 2
                    low, high = (self.meet[way], high) if self.step(first) < first["measured_us"] else (low, self.meet[way])

    def slab(self, row):
        x, y, z = row["cells"]
        return self.slabs.get((row["lattice"], row["streaming"], row["layout"], (x, y, z // row["devices"])))

    def step(self, row):
        slab, way, count = self.slab(row), row["way"], row["devices"]
        if slab is None or count == 1 or way not in self.meet:
            return None
        if way.startswith("direct"):
            return slab + self.meet[way]
        on_streams = way.endswith("@streams")
        messages = row["alpha"] * (count - 1 if on_streams else 1)
        exchange = (self.meet[way] + messages * self.setup[on_streams] +
                    row["beta_values"] * ELEMENT_BYTES / 1e3 / self.gb_per_s)
        edge = 2 * count / row["cells"][2]
        return slab + exchange if way.startswith("plain") else max(slab * (1 - edge), exchange) + slab * edge


def scaling(rows, lattice, cells):
    """Best speed of each number of devices, over that of one."""
    best = {}
    for r in rows:
        if r["lattice"] == lattice and r["cells"] == cells and r["streaming"] == "esoteric_pull" and r["layout"] == "plane":
            best[r["devices"]] = max(best.get(r["devices"], 0.0), r["mlups"])
    return [{"devices": n, "mlups": best[n], "speedup": best[n] / best[1], "efficiency": best[n] / best[1] / n}
            for n in sorted(best)]


def weak_scaling(rows):
    found = {r["devices"]: r["mlups"] for r in rows
             if r["cells"][:2] == [512, 512] and r["cells"][2] == 512 * r["devices"] and r["way"] == "direct"}
    return [{"devices": n, "mlups": found[n], "efficiency": found[n] / found[1] / n} for n in sorted(found)]


def ratios(rows):
    """The paper's comparison: each way over SoA with messages on streams, at the same size and streaming."""
    table, base = [], {}
    for r in rows:
        if (r["layout"], r["way"]) == ("soa", "messages@streams"):
            base[r["lattice"], r["streaming"], r["cells"][0]] = r["mlups"]
    for r in rows:
        key = r["lattice"], r["streaming"], r["cells"][0]
        if r["devices"] > 1 and (r["layout"], r["way"]) in LABELS and key in base and r["cells"][0] == r["cells"][2]:
            table.append({"lattice": key[0], "streaming": key[1], "cells": key[2], "layout": r["layout"], "way": r["way"],
                          "over_soa": r["mlups"] / base[key]})
    return table


def gnuplot(folder, name, title, y_label, series, extra=""):
    lines = [f'set terminal svg size 980,480 noenhanced font "sans,13" background "white"', f'set output "{folder}/{name}.svg"',
             f'set title "{title}"', 'set xlabel "cells along an edge"', f'set ylabel "{y_label}"', "set key outside right top",
             "set grid", "set logscale x 2", 'set xtics (64, 96, 128, 160, 192, 256, 384, 512)', extra]
    plots = []
    for i, (label, points) in enumerate(series):
        lines.append(f"$s{i} << END\n" + "\n".join(" ".join(f"{v:.6g}" for v in p) for p in points) + "\nEND")
        plots.append(f'$s{i} using 1:2 with linespoints lt {i + 1} pt {i + 4} title "{label}"')
        if points and len(points[0]) > 2:
            plots.append(f"$s{i} using 1:3 with lines lt {i + 1} dt 3 notitle")
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\nplot " + ", ".join(plots) + "\n", text=True, check=True)


def draw(rows, result, folder, devices):
    for streaming in ("esoteric_pull", "two_grid"):
        chosen, over = [], []
        for (layout, way), label in LABELS.items():
            some = sorted((r for r in rows if r["lattice"] == "d3q19" and r["streaming"] == streaming and
                           r["layout"] == layout and r["way"] == way and r["devices"] == devices and
                           r["cells"][0] == r["cells"][2]), key=lambda r: r["cells"][0])
            if not some:
                continue
            chosen.append((label, [(r["cells"][0], r["mlups"],
                                    r["cells"][0] ** 3 / r["model_us"] if r.get("model_us") else float("nan")) for r in some]))
            over.append((label, [(t["cells"], t["over_soa"]) for t in sorted(result["over_soa"], key=lambda t: t["cells"])
                                 if (t["layout"], t["way"], t["streaming"], t["lattice"]) == (layout, way, streaming, "d3q19")]))
        one = sorted((r for r in rows if r["lattice"] == "d3q19" and r["streaming"] == streaming and r["layout"] == "plane"
                      and r["devices"] == 1 and r["cells"][0] == r["cells"][2] and not r["way"]), key=lambda r: r["cells"][0])
        chosen.append(("one device", [(r["cells"][0], r["mlups"]) for r in one]))
        gnuplot(folder, f"devices-{devices}-{streaming}",
                f"Lid-driven cavity, D3Q19 f32, {streaming}, {devices} H200 (dotted: model)", "MLUPS", chosen)
        gnuplot(folder, f"devices-{devices}-{streaming}-over-soa",
                f"Speed over SoA with messages, D3Q19 f32, {streaming}, {devices} H200", "ratio", over,
                "set key outside right top")


def lines_of(result):
    """JSON with one element of a list a line."""
    parts = []
    for key, value in result.items():
        if isinstance(value, list):
            text = "[\n" + ",\n".join("  " + json.dumps(v) for v in value) + "\n ]"
        else:
            text = json.dumps(value)
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    source, date, machine, target, folder = sys.argv[1:6]
    with open(source, encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    rows = [parse(line) for line in read if line["task"] == "time"]
    peers = [line for line in read if line["task"] == "peer"]
    model = Model(rows, peers)
    for r in rows:
        predicted = model.step(r)
        if predicted is not None:
            r["model_us"] = round(predicted, 2)
    errors = [abs(r["model_us"] / r["measured_us"] - 1) for r in rows if "model_us" in r]
    devices = max(r["devices"] for r in rows)
    result = {
        "date": date, "machine": machine, "command": f"bench/accelerator/devices.sh FOLDER LINES.jsonl {devices}",
        "checks": [line for line in read if line["task"] in ("equal", "different")],
        "peers": peers,
        "model": {"setup_us_streams": model.setup[True], "setup_us_graph": model.setup[False], "gb_per_s": model.gb_per_s,
                  "meet_us": {way: round(us, 2) for way, us in model.meet.items()},
                  "median_error": statistics.median(errors), "rows_within_15_percent": sum(e <= 0.15 for e in errors),
                  "rows": len(errors)},
        "strong_scaling_d3q27_192": scaling(rows, "d3q27", [192] * 3),
        "strong_scaling_d3q19_512": scaling(rows, "d3q19", [512] * 3),
        "weak_scaling_d3q19_512_a_device": weak_scaling(rows),
        "over_soa": ratios(rows),
        "rows": rows,
    }
    with open(target, "w", encoding="utf-8") as out:
        out.write(lines_of(result))
    os.makedirs(folder, exist_ok=True)
    draw(rows, result, folder, devices)
    print(json.dumps({k: result[k] for k in result if k.endswith(("192", "512", "device")) or k == "model"}, indent=1))


if __name__ == "__main__":
    main()
