package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	nodeName = "node-0"
	// answerBytes bounds what is read of an answer.
	answerBytes = 1 << 20
	askTimeout  = 10 * time.Second
)

// No proxy: everything is on the loopback interface.
var plainClient = &http.Client{Timeout: askTimeout, Transport: &http.Transport{}}

// api speaks to the API server as the administrator.
type api struct {
	client *http.Client
	server string
	token  string
}

func (p *plane) api() (*api, error) {
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(p.credentials.authority) {
		return nil, errors.New("the authority's certificate cannot be read back")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	return &api{
		client: &http.Client{Timeout: askTimeout, Transport: transport},
		server: p.server,
		token:  p.credentials.tokens[adminUser],
	}, nil
}

func (a *api) get(ctx context.Context, path string) error {
	return get(ctx, a.client, a.server+path, a.token)
}

// createNode makes the one node of the plane. Its capacity and its conditions come from KWOK.
func (a *api) createNode(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name": nodeName,
			"labels": map[string]string{
				"kubernetes.io/arch":          "amd64",
				"kubernetes.io/os":            "linux",
				"kubernetes.io/hostname":      nodeName,
				"topology.kubernetes.io/zone": "zone-0",
				"kwok.whipstaff.dev/managed":  "true",
			},
		},
	})
	if err != nil {
		return err
	}
	_, err = send(ctx, a.client, http.MethodPost, a.server+"/api/v1/nodes", a.token, body)
	return err
}

// nodeReady tells whether pods can be scheduled: with a controller manager, the node is also free of
// the taint that every new node gets.
func (a *api) nodeReady(ctx context.Context, untainted bool) error {
	answer, err := send(ctx, a.client, http.MethodGet, a.server+"/api/v1/nodes/"+nodeName, a.token, nil)
	if err != nil {
		return err
	}
	var node struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(answer, &node); err != nil {
		return err
	}
	if untainted && len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node `%s` has the taint `%s`", nodeName, node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == "Ready" && condition.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("node `%s` is not ready", nodeName)
}

func get(ctx context.Context, client *http.Client, url, token string) error {
	_, err := send(ctx, client, http.MethodGet, url, token, nil)
	return err
}

func send(ctx context.Context, client *http.Client, method, url, token string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerBytes))
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(answer))
	}
	return answer, nil
}
