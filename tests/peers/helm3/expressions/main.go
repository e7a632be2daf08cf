// Renders templates one by one within a chart, with Helm's own engine.
//
// Usage: expressions CHART. Each line of the input is {"template": TEXT}; the line that answers it has
// "output" or "error", or "varies" when three renderings are not the same.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

const (
	file    = "templates/NOTES.txt"
	longest = 1 << 20
)

type answer struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
	Varies bool    `json:"varies,omitempty"`
}

func render(loaded *chart.Chart, text string) answer {
	helpers := loaded.Templates
	defer func() { loaded.Templates = helpers }()
	loaded.Templates = append(append([]*chart.File{}, helpers...), &chart.File{Name: file, Data: []byte(text)})
	given := map[string]interface{}{"set": map[string]interface{}{"int": int64(5), "big": int64(12345678901), "zero": int64(0)}}
	release := chartutil.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	if err := chartutil.ProcessDependenciesWithMerge(loaded, given); err != nil {
		log.Fatal(err)
	}
	values, err := chartutil.ToRenderValues(loaded, given, release, nil)
	if err != nil {
		log.Fatal(err)
	}
	rendered, err := engine.Render(loaded, values)
	if err != nil {
		message := err.Error()
		return answer{Error: &message}
	}
	output := rendered[loaded.Name()+"/"+file]
	return answer{Output: &output}
}

func same(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func main() {
	log.SetFlags(0)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longest)
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	for lines.Scan() {
		var question struct{ Template string }
		if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
			log.Fatal(err)
		}
		// What a template does to the chart's values must not be seen by the next one.
		loaded, err := loader.LoadDir(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		first := render(loaded, question.Template)
		for range 2 {
			if first.Error != nil {
				break
			}
			if loaded, err = loader.LoadDir(os.Args[1]); err != nil {
				log.Fatal(err)
			}
			again := render(loaded, question.Template)
			if !same(first.Output, again.Output) || !same(first.Error, again.Error) {
				first = answer{Varies: true}
				break
			}
		}
		if err := answers.Encode(first); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
