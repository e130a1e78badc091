#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `lamina record` costs: workload_spin alone, interrupted by a bare clock at the same rate, and recorded, in turns, every other
turn backwards, so that a slow moment meets all. Prints median, quartiles and the standard error of the median of the turns' ratios, of
processor and of wall time: the cost, the part that any sampling pays to the interrupts, and what the recorder adds to that.

  bench/workloads/overhead.py BUILD-FOLDER [--pairs 30] [--rounds MILLIONS] [--threads N] [--hz HZ ...] [-- RECORD-OPTION ...]
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile


def once(program, record):
    with tempfile.TemporaryDirectory() as folder:
        command = record + ["-o", os.path.join(folder, "p"), "--"] + program if record else program
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    fields = done.stdout.split()
    if done.returncode != 0 or len(fields) < 2:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or 'no times'}")
    return float(fields[0]), float(fields[1])


def summary(ratios):
    percent = sorted(100 * (ratio - 1) for ratio in ratios)
    low, middle, high = statistics.quantiles(percent, n=4, method="inclusive")
    draws = random.Random(1)
    medians = [statistics.median(draws.choices(percent, k=len(percent))) for _ in range(1000)]
    return {"median_percent": round(middle, 3), "quartiles_percent": [round(low, 3), round(high, 3)],
            "standard_error_percent": round(statistics.stdev(medians), 3)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build")
    options.add_argument("--pairs", type=int, default=30)
    options.add_argument("--rounds", type=float, default=300, help="million rounds of a run (default: 300)")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--hz", type=float, nargs="+", default=[1000])
    options.add_argument("record", nargs="*", help="further options of lamina record, behind --")
    asked = options.parse_args()
    if asked.pairs < 2:
        options.error("--pairs: at least 2")
    program = [os.path.join(asked.build, "workloads", "workload_spin"), str(asked.rounds), str(asked.threads)]
    lamina = os.path.join(asked.build, "lamina")
    for hz in asked.hz:
        record = [lamina, "record", "--source", "clock", "--rate", f"{hz:g}"] + asked.record
        ways = {"alone": (program, None), "interrupts": (program + [f"{hz:g}"], None), "recorded": (program, record)}
        times = {way: [] for way in ways}
        for turn in range(asked.pairs):
            for way in list(ways)[::-1] if turn % 2 else ways:
                times[way].append(once(*ways[way]))
        found = {"hz": hz, "turns": asked.pairs, "threads": asked.threads, "record_options": asked.record}
        for over, under in ("recorded", "alone"), ("interrupts", "alone"), ("recorded", "interrupts"):
            for i, clock in enumerate(("processor", "wall")):
                found[f"{over}_over_{under}_{clock}"] = summary([a[i] / b[i] for a, b in zip(times[over], times[under])])
        print(json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
