package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// certificateLife is longer than any test and short enough to be worthless afterwards.
const certificateLife = 7 * 24 * time.Hour

// The users that the parts appear as, all of them all-powerful. Tests tell by these names who did
// what in the audit log.
var partUsers = map[string]string{
	controllerManager: "system:kube-controller-manager",
	scheduler:         "system:kube-scheduler",
	kwok:              "system:kwok",
}

const adminUser = "admin"

// credentials are everything secret or trusted about one control plane, PEM where it is not a token.
type credentials struct {
	authority     []byte
	servingCert   []byte
	servingKey    []byte
	accountKey    []byte
	accountPublic []byte
	// tokens maps a user name to its bearer token.
	tokens map[string]string
}

func makeCredentials() (*credentials, error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := certificateTemplate("whipstaff test authority", 1)
	authority.IsCA = true
	authority.BasicConstraintsValid = true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return nil, err
	}

	made := &credentials{authority: block("CERTIFICATE", authorityDER), tokens: map[string]string{}}
	if err := made.signServing(authority, authorityKey); err != nil {
		return nil, err
	}
	if err := made.makeAccountKey(); err != nil {
		return nil, err
	}
	for _, user := range append([]string{adminUser}, sortedValues(partUsers)...) {
		made.tokens[user] = rand.Text()
	}
	return made, nil
}

func (c *credentials) signServing(authority *x509.Certificate, authorityKey *ecdsa.PrivateKey) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := certificateTemplate("kube-apiserver", 2)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return err
	}
	c.servingCert = block("CERTIFICATE", der)
	c.servingKey, err = keyBlock(key)
	return err
}

// makeAccountKey makes the pair that service account tokens are signed and checked with.
func (c *credentials) makeAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	c.accountPublic = block("PUBLIC KEY", public)
	c.accountKey, err = keyBlock(key)
	return err
}

// tokenFile has a line `token,user,uid,"group"` for each user.
func (c *credentials) tokenFile() []byte {
	var lines strings.Builder
	for user, token := range c.tokens {
		fmt.Fprintf(&lines, "%s,%s,%s,\"system:masters\"\n", token, user, user)
	}
	return []byte(lines.String())
}

// kubeconfig is complete in itself: it names no other file.
func (c *credentials) kubeconfig(server, user string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: whipstaff-test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %[3]q
  user:
    token: %[4]s
contexts:
- name: whipstaff-test
  context:
    cluster: whipstaff-test
    user: %[3]q
current-context: whipstaff-test
`, server, base64.StdEncoding.EncodeToString(c.authority), user, c.tokens[user])
}

func certificateTemplate(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		// Clocks of the same machine can still step back a little.
		NotBefore: now.Add(-time.Hour),
		NotAfter:  now.Add(certificateLife),
	}
}

func keyBlock(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return block("EC PRIVATE KEY", der), nil
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
