#!/usr/bin/env python3
"""Compare the places that messages of failing cases name with those that Helm names.

  same_place.py CORPUS --cmd 'target/release/whipstaff template' --dialect v3

CORPUS/<chart>/origin.json lists the cases, CORPUS/<chart>/expected/<dialect>/<case>.err holds what Helm said when it failed. A case
counts when Helm's message names a file and a line; it is the same place when ours names the same file and line first. Columns and
whole texts are counted too. The exit status is 0 when every file and line is the same.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

# `chart/templates/file.yaml:12:3` of templates, and `on chart/templates/file.yaml: … yaml: line 45` of YAML.
TEMPLATE_PLACE = re.compile(r"([\w.@+-]+(?:/[\w.@+ -]+)*\.[A-Za-z]+):(\d+)(?::(\d+))?")
YAML_PLACE = re.compile(r"(?:on|parse) ([\w./@+-]+\.[A-Za-z]+): .*?line (\d+)", re.S)
# Advice and warnings that Helm adds around its message.
NOISE = re.compile(r"^((?:WARNING|warning): .*|Use --debug flag .*|\s*|level=WARN .*)\n?", re.M)


def place(message):
    """The first (file, line, column) of a message, or None."""
    for pattern in (TEMPLATE_PLACE, YAML_PLACE):
        found = pattern.search(message)
        if found:
            return (found.groups() + (None,))[:3]
    return None


def arguments(case, folder):
    """The command line of a case, as the corpus describes it."""
    given = case.get("args", {})
    line = [given.get("release", "release-name"), os.path.join(folder, "chart"), "-n", given.get("namespace", "default")]
    line += [word for name in case.get("values", []) for word in ("-f", os.path.join(folder, name))]
    line += [word for version in given.get("apiVersions") or [] for word in ("--api-versions", version)]
    if given.get("kubeVersion"):
        line += ["--kube-version", given["kubeVersion"]]
    if given.get("skipSchemaValidation"):
        line.append("--skip-schema-validation")
    return line


def failing_cases(corpus, dialect):
    """Each failing case with what Helm says about it."""
    for name in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, name)
        listing = os.path.join(folder, "origin.json")
        if not os.path.exists(listing):
            continue
        with open(listing, encoding="utf-8") as file:
            cases = json.load(file)["cases"]
        for case in cases:
            message = os.path.join(folder, "expected", dialect, case["id"] + ".err")
            if os.path.exists(message):
                with open(message, encoding="utf-8", errors="replace") as file:
                    yield f"{name}/{case['id']}", arguments(case, folder), file.read()


def main():
    """Run every failing case and print the counts."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("corpus")
    options.add_argument("--cmd", required=True)
    options.add_argument("--dialect", default="v3")
    options.add_argument("-v", "--verbose", action="store_true", help="show both texts wherever they differ")
    given = options.parse_args()
    command = shlex.split(given.cmd)

    def run(case):
        done = subprocess.run(command + case[1] + ["--dialect", given.dialect], capture_output=True, check=False)
        return done.stderr.decode("utf-8", "replace")

    cases = list(failing_cases(given.corpus, given.dialect))
    places = lines = columns = texts = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, wanted), found in zip(cases, pool.map(run, cases)):
            wanted_place, found_place = place(wanted), place(found)
            same_line = wanted_place and found_place and wanted_place[:2] == found_place[:2]
            places += wanted_place is not None
            lines += bool(same_line)
            columns += wanted_place is not None and wanted_place == found_place
            # Helm lists the violations of a schema in a random order.
            same_text = sorted(NOISE.sub("", wanted).split("\n")) == sorted(NOISE.sub("", found).split("\n"))
            texts += same_text
            if (wanted_place and not same_line) or (given.verbose and not same_text):
                print(f"{name}:\n  helm: {wanted.strip()}\n  ours: {found.strip()}")
    print(f"same text {texts} / {len(cases)}")
    print(f"same column {columns} / {places}")
    print(f"same place {lines} / {places}")
    sys.exit(0 if places and lines == places else 1)


if __name__ == "__main__":
    main()
