#!/usr/bin/env python3
"""Take releases of many charts over, and see that nothing of them changes.

  takeover_corpus.py CORPUS --plane target/debug/control-plane --whipstaff target/debug/whipstaff \\
      --helm 3=/path/helm3 --helm 4=/path/helm4 [--charts 'redis|grafana'] [--limit 40]

CORPUS/<chart>/chart is a chart, CORPUS/<chart>/values/* are values for it. On one control plane, Helm installs each chart in a namespace
of its own (without waiting, and without schema checks of what is not there); `whipstaff adopt` proves that nothing would change; a
Component with the chart's address takes it over; UIDs and generations of all objects with owners or workloads are compared before and
after, and so are the contents of everything that the release has. The exit status is 0 when every release that Helm could install was
taken over without a change.
"""
import argparse
import concurrent.futures
import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

KINDS = [
    ("/apis/apps/v1", "deployments"),
    ("/apis/apps/v1", "replicasets"),
    ("/apis/apps/v1", "statefulsets"),
    ("/apis/apps/v1", "daemonsets"),
    ("/apis/batch/v1", "jobs"),
    ("/apis/batch/v1", "cronjobs"),
    ("/api/v1", "pods"),
    ("/api/v1", "persistentvolumeclaims"),
    ("/api/v1", "services"),
    ("/api/v1", "configmaps"),
    ("/api/v1", "secrets"),
    ("/api/v1", "serviceaccounts"),
    ("/apis/networking.k8s.io/v1", "ingresses"),
    ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
]
# What is told apart: contents of these must not change either.
CONTENTS = ["spec", "data", "rules", "roleRef", "subjects", "type"]
SETTLE_SECONDS = 60
ADOPT_SECONDS = 90


class Cluster:
    def __init__(self, kubeconfig, server):
        text = open(kubeconfig).read()
        self.kubeconfig, self.server = kubeconfig, server
        self.token = re.search(r"token: \"?([^\"\s]+)", text).group(1)
        self.context = ssl._create_unverified_context()

    def call(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(self.server + path, method=method)
        request.add_header("Authorization", "Bearer " + self.token)
        data = None
        if body is not None:
            request.add_header("Content-Type", kind)
            data = json.dumps(body).encode()
        with urllib.request.urlopen(request, data, context=self.context, timeout=60) as answer:
            return json.load(answer)

    def apply(self, path, body):
        return self.call("PATCH", path + "?fieldManager=corpus&force=true", body, "application/apply-patch+yaml")

    def state(self, namespace):
        found = {}
        for group, plural in KINDS:
            for item in self.call("GET", f"{group}/namespaces/{namespace}/{plural}")["items"]:
                metadata = item["metadata"]
                name = metadata["name"]
                # Records and bookkeeping come and go; what the control plane keeps is its own.
                if name.startswith(("sh.helm.release", "whipstaff-", "kube-root-ca")) or name.endswith("-values"):
                    continue
                contents = json.dumps([item.get(field) for field in CONTENTS], sort_keys=True)
                # A Deployment counts changes of its annotations, too.
                generation = None if plural == "deployments" else metadata.get("generation")
                found[plural, name] = (metadata["uid"], generation, contents)
        return found


def differences(before, after):
    told = []
    for key in sorted(set(before) | set(after)):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        if one is None or other is None:
            told.append(f"{'/'.join(key)} {'appeared' if one is None else 'went'}")
        elif one[0] != other[0]:
            told.append(f"{'/'.join(key)} is another one")
        else:
            told.append(f"{'/'.join(key)} changed (generation {one[1]} to {other[1]})")
    return told


def settled(cluster, namespace):
    """Waits until nothing has changed for a while."""
    end, last = time.time() + SETTLE_SECONDS, None
    while time.time() < end:
        now = cluster.state(namespace)
        if now == last:
            return now
        last = now
        time.sleep(3)
    return last


def packed(program, folder, scratch, environment):
    with tempfile.TemporaryDirectory(dir=scratch) as target:
        subprocess.run([program, "package", folder, "-d", target], check=True, capture_output=True, env=environment)
        with open(os.path.join(target, os.listdir(target)[0]), "rb") as archive:
            return archive.read()


def take_over(cluster, options, chart, number, helm):
    folder = os.path.join(options.corpus, chart, "chart")
    namespace = f"corpus-{number}"
    version, program = helm
    environment = dict(os.environ, HELM_CACHE_HOME=options.scratch, HELM_CONFIG_HOME=options.scratch,
                       HELM_DATA_HOME=options.scratch, KUBECONFIG=cluster.kubeconfig)
    origin = json.load(open(os.path.join(options.corpus, chart, "origin.json")))
    case = next((c for c in origin.get("cases", []) if c.get("ok")), {})
    values = [flag for path in case.get("values", []) for flag in ("-f", os.path.join(options.corpus, chart, path))]
    install = [program, "install", "r", folder, "-n", namespace, "--create-namespace", "--no-hooks", "--timeout", "60s"] + values
    ran = subprocess.run(install, capture_output=True, text=True, env=environment)
    if ran.returncode != 0:
        return "not installed", ran.stderr.strip().splitlines()[-1][:160] if ran.stderr.strip() else ""
    before = settled(cluster, namespace)
    options.files[f"/{chart}.tgz"] = packed(program, folder, options.scratch, environment)
    url = f"http://127.0.0.1:{options.port}/{chart}.tgz"
    base = [options.whipstaff, "adopt", "r", "-n", namespace, "--kubeconfig", cluster.kubeconfig]
    proof = subprocess.run(base + ["--chart", url], capture_output=True, text=True)
    if proof.returncode != 0:
        lines = [line.strip() for line in (proof.stdout + proof.stderr).splitlines()]
        wanted = re.compile("DIFFERS|NOT |changes in|refused|belongs|created|twice|Error")
        return "not proved", "; ".join(line for line in lines if wanted.search(line))[:600]
    applied = subprocess.run(base + ["--chart", url, "--apply"], capture_output=True, text=True)
    if applied.returncode != 0:
        return "not applied", applied.stderr.strip()[-300:]
    path = f"/apis/whipstaff.dev/v1alpha1/namespaces/{namespace}/components/r"
    end = time.time() + ADOPT_SECONDS
    adoption, condition = {}, {}
    while time.time() < end and adoption.get("phase") != "Adopted":
        time.sleep(0.5)
        status = cluster.call("GET", path).get("status", {})
        adoption = status.get("adoption", {})
        condition = next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {})
    if adoption.get("phase") != "Adopted":
        return "not adopted", f"{adoption.get('phase')} {condition.get('reason')}: {condition.get('message')}"[:500]
    time.sleep(2)
    changed = differences(before, cluster.state(namespace))
    if changed:
        return "CHANGED", "; ".join(changed)[:600]
    return "adopted", f"helm {version}, {adoption.get('objects')} objects"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--plane", required=True)
    parser.add_argument("--whipstaff", required=True)
    parser.add_argument("--helm", action="append", required=True, metavar="NAME=PROGRAM")
    parser.add_argument("--charts", default="")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.files = {}
    helms = [tuple(helm.split("=", 1)) for helm in options.helm]
    charts = sorted(c for c in os.listdir(options.corpus) if re.search(options.charts, c))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = options.files.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    options.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    plane = subprocess.Popen([options.plane], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    operator = None
    counts = {}
    with tempfile.TemporaryDirectory() as options.scratch:
        try:
            told = json.loads(plane.stdout.readline())
            cluster = Cluster(told["kubeconfig"], told["server"])
            crds = subprocess.run([options.whipstaff, "crds"], capture_output=True, text=True, check=True).stdout
            for text in filter(str.strip, re.split(r"^---\n", crds, flags=re.M)):
                name = re.search(r"^  name: (\S+)$", text, re.M).group(1)
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=corpus&force=true"
                request = urllib.request.Request(cluster.server + path, text.encode(), method="PATCH")
                request.add_header("Authorization", "Bearer " + cluster.token)
                request.add_header("Content-Type", "application/apply-patch+yaml")
                urllib.request.urlopen(request, context=cluster.context, timeout=60).close()
            time.sleep(2)
            log = open(os.path.join(options.scratch, "operator.log"), "w")
            operator = subprocess.Popen([options.whipstaff, "operator", "--log", "warn"],
                                        env=dict(os.environ, KUBECONFIG=cluster.kubeconfig), stdout=log, stderr=log)
            adopted = 0
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                numbered = list(enumerate(charts))
                for begin in range(0, len(numbered), options.jobs * 4):
                    if options.limit and adopted >= options.limit:
                        break
                    part = numbered[begin:begin + options.jobs * 4]
                    runs = [pool.submit(take_over, cluster, options, chart, number, helms[number % len(helms)]) for number, chart in part]
                    for (_, chart), run in zip(part, runs):
                        try:
                            outcome, detail = run.result()
                        except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
                            outcome, detail = "failed", repr(error)[:300]
                        counts[outcome] = counts.get(outcome, 0) + 1
                        adopted += outcome == "adopted"
                        print(f"{outcome:14} {chart}: {detail}", flush=True)
        finally:
            if operator:
                operator.terminate()
                operator.wait()
            plane.stdin.close()
            plane.wait()
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return 1 if any(outcome not in ("adopted", "not installed") for outcome in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
