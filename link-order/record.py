#!/usr/bin/env python3
"""Records which functions the commands `template` and `build` run, for `build.rs` to have them linked side by side.

    cargo build --release
    python3 link-order/record.py target/release/whipstaff CHART_OR_KUSTOMIZATION... > link-order/symbols.txt

Needs valgrind. A folder with a `Chart.yaml` is rendered, any other is built. Functions that more of the runs have come first, so that
what every start needs lies in a few pages. Names have digests of crates and types in them: those that a newer compiler or dependency
calls otherwise are left where the linker puts them, and nothing is lost but the order.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile


def functions(command):
    """The mangled names of Rust's functions that a command runs."""
    with tempfile.NamedTemporaryFile() as profile:
        valgrind = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile.name}"]
        result = subprocess.run(valgrind + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}: {result.stderr}")
        text = open(profile.name, encoding="utf-8").read()
    return set(re.findall(r"^c?fn=\(\d+\) ((?:_ZN|_R)\S+)$", text, re.MULTILINE))


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    listing = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    addresses = {}
    for line in listing.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            addresses[words[2]] = int(words[0], 16)
    runs = collections.Counter()
    for folder in folders:
        is_chart = os.path.exists(os.path.join(folder, "Chart.yaml"))
        command = ["template", "release-name", folder] if is_chart else ["build", folder]
        runs.update(functions([program] + command))
    known = [name for name in runs if name in addresses]
    # Neighbours stay neighbours: what is called together lies together already.
    for name in sorted(known, key=lambda name: (-runs[name], addresses[name])):
        print(name)


main()
