package main

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed stages/*.yaml
var stages embed.FS

// auditPolicy records every request once, when it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// clientRate is far above what tests need: parts must not throttle themselves.
const clientRate = 1000

func etcdFlags(folder *dataFolder, clientURL, peerURL string) []string {
	return []string{
		"--data-dir=" + folder.file("etcd"),
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
		"--unsafe-no-fsync",
		"--log-level=warn",
		// One member has nobody to wait for in its election.
		"--heartbeat-interval=10",
		"--election-timeout=100",
	}
}

// apiServerFlags writes the files that they name.
func (p *plane) apiServerFlags(etcdURL, port string) ([]string, error) {
	files := map[string][]byte{
		"serving.crt":             p.credentials.servingCert,
		"serving.key":             p.credentials.servingKey,
		"authority.crt":           p.credentials.authority,
		"accounts.key":            p.credentials.accountKey,
		"accounts.pub":            p.credentials.accountPublic,
		"tokens.csv":              p.credentials.tokenFile(),
		"audit-policy.yaml":       []byte(auditPolicy),
		adminUser + ".kubeconfig": p.credentials.kubeconfig(p.server, adminUser),
	}
	for name, content := range files {
		if _, err := p.folder.write(name, content); err != nil {
			return nil, err
		}
	}
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + port,
		// A loopback address cannot be an endpoint of the Service `kubernetes`.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + p.folder.file("serving.crt"),
		"--tls-private-key-file=" + p.folder.file("serving.key"),
		"--cert-dir=" + p.folder.file("certificates"),
		"--token-auth-file=" + p.folder.file("tokens.csv"),
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--service-account-key-file=" + p.folder.file("accounts.pub"),
		"--service-account-signing-key-file=" + p.folder.file("accounts.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-cluster-ip-range=10.0.0.0/16",
		// Pods can then be made at once in a namespace that has no service account yet.
		"--disable-admission-plugins=ServiceAccount",
		"--audit-policy-file=" + p.folder.file("audit-policy.yaml"),
		"--audit-log-path=" + p.folder.file(auditLogName),
		"--audit-log-mode=blocking",
		// Megabytes before the file is changed for another, which readers would not follow.
		"--audit-log-maxsize=10000",
		"--profiling=false",
	}, nil
}

// controllerFlags writes the kubeconfig of the part, too.
func (p *plane) controllerFlags(name string) ([]string, error) {
	kubeconfig, err := p.folder.write(name+".kubeconfig", p.credentials.kubeconfig(p.server, partUsers[name]))
	if err != nil {
		return nil, err
	}
	common := []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		fmt.Sprintf("--kube-api-qps=%d", clientRate),
		fmt.Sprintf("--kube-api-burst=%d", clientRate),
	}
	switch name {
	case scheduler:
		return common, nil
	case controllerManager:
		return append(common,
			"--service-account-private-key-file="+p.folder.file("accounts.key"),
			"--root-ca-file="+p.folder.file("authority.crt"),
			"--use-service-account-credentials=false",
			"--controllers=*,-nodeipam,-cloud-node-lifecycle",
			// A busy machine keeps KWOK from its heartbeats, and who calls a node dead takes the readiness from pods that nobody
			// makes ready again.
			"--node-monitor-grace-period=24h",
		), nil
	default:
		file, err := p.folder.write("stages.yaml", allStages())
		return []string{
			"--kubeconfig=" + kubeconfig,
			"--config=" + file,
			"--manage-all-nodes=true",
			// Apart from the addresses of Services, and enough for any test.
			"--cidr=10.128.0.1/12",
			// No kubelet port: logs and exec are not simulated.
			"--node-port=0",
		}, err
	}
}

// allStages joins the stage files into one stream of YAML documents.
func allStages() []byte {
	var joined strings.Builder
	entries, _ := stages.ReadDir("stages")
	for _, entry := range entries {
		content, _ := stages.ReadFile("stages/" + entry.Name())
		fmt.Fprintf(&joined, "---\n%s\n", content)
	}
	return []byte(joined.String())
}

func sortedValues(of map[string]string) []string { return slices.Sorted(maps.Values(of)) }
