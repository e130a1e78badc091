#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules that a script can hold: layers, names, sizes, banned calls, licences.

    scripts/check.py            every tracked file, and those not ignored
    scripts/check.py --sizes    also the distribution of function sizes

Each rule is a function that yields (file, line, sentence). An exception names its file (and function) and its reason in
EXCEPTIONS below; one that is no longer needed is a failure, so the list can only shrink.
"""
import json
import os
import re
import subprocess
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What each layer may include besides itself. docs/dev/architecture.md has the picture.
LAYERS = {
    "base": [],
    "kernel": [],
    "device": ["kernel", "base"],
    "grid": ["device", "kernel", "base"],
    "flow": ["grid", "device", "kernel", "base"],
    "memory": ["device", "base"],
    "io": ["flow", "grid", "device", "base"],
    "study": ["io", "memory", "flow", "grid", "device", "base"],
    "report": ["study", "io", "memory", "flow", "grid", "device", "base"],
    "cli": ["report", "study", "io", "flow", "memory", "base"],
}

# (rule, file or file:function) -> why it may stay.
EXCEPTIONS = {
    ("banned call", "src/memory/launch.c"): "between fork and exec the child has nothing else to leave with",
    ("banned call", "src/memory/prefetch_switch.c"): "the guardian, a forked process, ends when its work is done",
    ("banned call", "src/cli/place_apply.c"): "between fork and exec the child has nothing else to leave with",
    ("banned call", "src/base/context.c"): "the one place that calls the C allocator",
    ("banned call", "src/base/text.c"): "wraps strtod, with the point as decimal sign",
    ("banned call", "src/io/stl_repair.c"): "releases what admesh allocated",
    ("banned call", "src/io/field_series.c"): "a text that jansson allocated is released with free",
    ("banned call", "src/study/run_record.c"): "a text that jansson allocated is released with free",
    ("banned call", "src/study/simulation_monitor.c"): "a text that jansson allocated is released with free",
}

FUNCTION_LINES, FUNCTION_LINES_P95 = 100, 60
FILE_LINES, HEADER_LINES, COLUMNS = 800, 400, 120

BANNED = {
    "malloc calloc realloc free strdup strndup alloca": "memory comes from LMI_ALLOC and goes to lmi_free",
    "printf puts putchar perror": "the library does not print: lmi_log, or a status with a sentence",
    "exit _exit abort": "the library never ends the program",
    "sprintf vsprintf strcpy strcat strncpy strncat gets strtok": "use snprintf or lmi_text_append",
    "atoi atol atof strtod strtof": "use lmi_parse_int64 or lmi_parse_double: they refuse bad text, in every locale",
    "rand srand random drand48": "results must be the same everywhere: use an own generator with a seed",
    "setlocale": "numbers are written and read with a point",
}
# Where a banned call is the purpose of the folder.
MAY_PRINT = ("src/cli/",)
FEATURE_MACRO = re.compile(r"^\s*#\s*define\s+(_GNU_SOURCE|_POSIX_C_SOURCE|_XOPEN_SOURCE|_DEFAULT_SOURCE)\b")


def listed_files():
    output = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout.decode()
    return sorted(f for f in output.split("\0") if f and os.path.isfile(os.path.join(ROOT, f)))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """Comments and the insides of literals blanked out, line numbers kept."""
    def blank(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] + found[-1]
        return re.sub(r"[^\n]", " ", found)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


class Tree:
    """The files, their text, and the functions that ctags finds in them."""

    def __init__(self):
        self.files = listed_files()
        self.text = {f: read(f) for f in self.files if is_text(f)}
        self.c_files = [f for f in self.files if f.endswith((".c", ".h"))]
        self.code = {f: without_comments(self.text[f]) for f in self.c_files}
        self.functions = find_functions([f for f in self.c_files if not f.startswith("tracer/")])

    def lines(self, path, code=False):
        return enumerate((self.code if code else self.text)[path].split("\n"), 1)


def is_text(path):
    return not path.endswith((".png", ".stl", ".h5", ".vtkhdf", ".gz", ".svg"))


def find_functions(paths):
    output = subprocess.run(["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+neS", "-L", "-",
                             "--output-format=json", "-f", "-", "-I", "LAMINA_NODISCARD,LAMINA_API,LMK_INLINE"], cwd=ROOT,
                            input="\n".join(paths), capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines() if '"_type": "tag"' in line]


def layer_of(path):
    match = re.match(r"src/(\w+)/", path)
    return match.group(1) if match else None


def rule_layers(tree):
    for path in tree.c_files:
        layer = layer_of(path)
        if layer is None:
            continue
        if layer not in LAYERS:
            yield path, 1, f"there is no layer '{layer}'"
            continue
        for number, line in tree.lines(path):
            match = re.match(r'\s*#\s*include\s+"(\w+)/', line)
            if not match:
                continue
            target = match.group(1)
            if target in LAYERS and target != layer and target not in LAYERS[layer]:
                yield path, number, f"{layer} must not include {target}"


def rule_kernel(tree):
    """Kernel texts go to two compilers: no system header, except in what is for the host alone."""
    for path in tree.c_files:
        if layer_of(path) != "kernel" or path.endswith("_host.h"):
            continue
        for number, line in tree.lines(path):
            if re.match(r"\s*#\s*include\s+<", line):
                yield path, number, "a kernel text includes no system header"


def rule_prefix(tree):
    """The border you cross is in the name."""
    allowed = {"kernel": ("lmk_", "lmi_"), None: ("lamina_",)}
    for function in tree.functions:
        path, name = function["path"], function["name"]
        layer = layer_of(path)
        is_public = path.startswith("include/")
        if not (layer or is_public) or (function.get("file") and not path.endswith(".h")) or name == "main":
            continue
        prefixes = ("lamina_",) if is_public else allowed.get(layer, ("lamina_", "lmi_", "lmk_"))
        if not name.startswith(prefixes) and not name.isupper():  # upper case: a macro that defines the function
            yield path, function["line"], f"{name} is seen by other files: its name must start with {' or '.join(prefixes)}"
    for path in tree.c_files:
        if not path.startswith("include/lamina/"):
            continue
        for number, line in tree.lines(path, code=True):
            match = re.match(r"\s*#\s*define\s+(\w+)|.*\b(?:struct|enum)\s+(\w+)\s*\{", line)
            name = match and (match.group(1) or match.group(2))
            if name and not name.lower().startswith("lamina_"):
                yield path, number, f"public name {name} must start with LAMINA_ or lamina_"


def rule_function_size(tree):
    for function in tree.functions:
        lines = function.get("end", function["line"]) - function["line"] + 1
        if lines > FUNCTION_LINES:
            yield f"{function['path']}:{function['name']}", function["line"], f"{lines} lines; {FUNCTION_LINES} are allowed"


def rule_function_sizes_overall(tree):
    sizes = function_sizes(tree, "src/")
    if sizes and percentile(sizes, 95) > FUNCTION_LINES_P95:
        yield "src", 1, f"19 of 20 functions should have at most {FUNCTION_LINES_P95} lines; it is {percentile(sizes, 95)}"


def function_sizes(tree, prefix):
    return sorted(f.get("end", f["line"]) - f["line"] + 1 for f in tree.functions if f["path"].startswith(prefix))


def percentile(values, share):
    return values[min(len(values) - 1, len(values) * share // 100)]


def rule_file_size(tree):
    for path in tree.c_files:
        limit = HEADER_LINES if path.startswith("include/") else FILE_LINES
        count = tree.text[path].count("\n")
        if count > limit:
            yield path, 1, f"{count} lines; {limit} are allowed"


def rule_columns(tree):
    for path in tree.c_files:
        for number, line in tree.lines(path):
            if len(line) > COLUMNS:
                yield path, number, f"{len(line)} columns; {COLUMNS} are allowed"


def rule_unique_name(tree):
    shared = {"CMakeLists.txt", "README.md", ".gitignore", "Makefile"}
    places = defaultdict(list)
    for path in tree.files:
        places[os.path.basename(path)].append(path)
    for name, paths in places.items():
        if len(paths) > 1 and name not in shared:
            yield paths[1], 1, f"the file name is also that of {paths[0]}"


def rule_banned_call(tree):
    words = {word: why for group, why in BANNED.items() for word in group.split()}
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(words) + r")\s*\(")
    for path in tree.c_files:
        if not path.startswith(("src/", "include/")):
            continue
        for number, line in tree.lines(path, code=True):
            for word in pattern.findall(line):
                if path.startswith(MAY_PRINT) and "print" in words[word]:
                    continue
                yield path, number, f"{word}(): {words[word]}"


def rule_printing(tree):
    for path in tree.c_files:
        if not path.startswith("src/") or path.startswith(MAY_PRINT):
            continue
        for number, line in tree.lines(path, code=True):
            if re.search(r"\b(stdout|stderr)\b", line):
                yield path, number, "the library does not touch stdout or stderr"


def rule_labels(tree):
    for path in tree.c_files:
        if layer_of(path) is None:
            continue
        for number, line in tree.lines(path, code=True):
            match = re.search(r"\bgoto\s+(\w+)", line)
            if match and match.group(1) not in ("cleanup", "label"):
                yield path, number, f"goto {match.group(1)}: the one label is cleanup"


def rule_feature_macro(tree):
    for path in tree.c_files:
        if path.endswith(".h"):
            for number, line in tree.lines(path):
                if FEATURE_MACRO.match(line):
                    yield path, number, "feature macros belong into .c files, before the first include"


def rule_licence(tree):
    kinds = (".c", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt", "Makefile")
    for path in tree.files:
        if path.endswith(kinds) and not any("SPDX-License-Identifier: " in line for line in tree.text[path].split("\n")[:2]):
            yield path, 1, "the first line must hold SPDX-License-Identifier"
        wants_gpl = path.startswith(("tracer/", "tests/tracer/"))
        if path.endswith(kinds) and not wants_gpl and "SPDX-License-Identifier: Apache-2.0" not in tree.text[path][:200]:
            yield path, 1, "everything outside tracer/ and its tests is Apache-2.0"


def rule_leftovers(tree):
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    for path, text in tree.text.items():
        if path in ("scripts/check.py",) or path.endswith((".out", ".txt", ".csv")):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if path.endswith((".c", ".h")) and ("\t" in line or line != line.rstrip()):
                yield path, number, "a tab, or a blank at the end of the line"
            if pattern.search(line):
                yield path, number, "unfinished work belongs into an issue"


def rule_links(tree):
    """A relative link of a page leads to a file that is there."""
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        for number, line in tree.lines(path):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                where = os.path.normpath(os.path.join(ROOT, os.path.dirname(path), target))
                if "://" not in target and not os.path.exists(where):
                    yield path, number, f"the link to {target} leads nowhere"


RULES = [rule_layers, rule_kernel, rule_prefix, rule_function_size, rule_function_sizes_overall, rule_file_size, rule_columns,
         rule_unique_name, rule_banned_call, rule_printing, rule_labels, rule_feature_macro, rule_licence, rule_leftovers,
         rule_links]


def run_rules(tree):
    findings, used = [], set()
    for rule in RULES:
        name = rule.__name__[len("rule_"):].replace("_", " ")
        for path, line, sentence in rule(tree):
            if (name, path) in EXCEPTIONS:
                used.add((name, path))
            else:
                findings.append(f"{path}:{line}: {name}: {sentence}")
    findings += [f"scripts/check.py: the exception for {key} is no longer needed: remove it"
                 for key in EXCEPTIONS if key not in used]
    return findings


def print_sizes(tree):
    for prefix in ("src/", "tests/", "tracer/"):
        sizes = function_sizes(tree, prefix)
        if sizes:
            print(f"{prefix:8} {len(sizes)} functions, lines: median {percentile(sizes, 50)}, p90 {percentile(sizes, 90)}, "
                  f"p95 {percentile(sizes, 95)}, longest {sizes[-1]}")


def main():
    tree = Tree()
    findings = run_rules(tree)
    print("\n".join(findings) if findings else "The house rules hold.")
    if "--sizes" in sys.argv:
        print_sizes(tree)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
