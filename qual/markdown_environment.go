package qual

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// environment writes what the run ran on and how it was started.
func (p *page) environment(run *Run) {
	p.head(2, "Environment")
	rows := [][]string{
		{"command", strings.Join(run.Command, " ")},
		{"started, ended (UTC)", run.StartedAt.UTC().Format(time.RFC3339) + ", " + run.EndedAt.UTC().Format(time.RFC3339)},
		{"machine", fmt.Sprintf("%s/%s, kernel %s, %s, %d CPUs, %.1f GiB", run.Host.OS, run.Host.Arch, run.Host.Kernel, run.Host.CPU, run.Host.CPUs, float64(run.Host.MemoryBytes)/(1<<30))},
		{"program", fmt.Sprintf("%s %s %s, %s, cgo %t, sha256 %s", run.Program.Module, run.Program.ModuleVersion, run.Program.Revision, run.Program.GoVersion, run.Program.CGO, run.Program.SHA256)},
		{"runtime", fmt.Sprintf("%s (%s) %s", run.Runtime.Version, run.Runtime.Library, run.Runtime.SHA256)},
		{"server", fmt.Sprintf("in process: %t, lanes %d, queue of %d requests, %d bytes, %g ms", run.Server.InProcess, run.Server.Lanes, run.Server.QueueCount, run.Server.QueueBytes, run.Server.QueueWaitMS)},
		{"startup, in no other figure", fmt.Sprintf("%.1f ms", run.Server.StartupMS)},
		{"client", fmt.Sprintf("%s, retries %d, timeout %g ms", run.Client.Name, run.Client.Retries, run.Client.TimeoutMS)},
		{"clock of instants", run.Clock},
	}
	rows = append(rows, run.Stack.rows()...)
	for _, b := range run.Bundles {
		rows = append(rows, []string{"bundle of " + b.Model, fmt.Sprintf("%s, sha256 %s, family %s, backend %s, precision %s, loaded in %.1f ms", b.File, b.SHA256, b.Family, b.Backend, b.precision(), b.LoadMS)})
		if b.Params != nil {
			rows = append(rows, []string{"parameters of " + b.Model, compactJSON(b.Params)})
		}
	}
	for _, w := range run.Workloads {
		rows = append(rows, []string{"settings of " + w.Name, fmt.Sprintf("model %s, %s, streaming %t, %s", w.Model, w.Path, w.Streaming, compactJSON(w.Settings))})
	}
	for _, n := range run.Notes {
		rows = append(rows, []string{"note", n})
	}
	p.table([]string{"", ""}, rows)
}

func compactJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
