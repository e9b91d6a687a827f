package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trtmc-go/trtmc/native/reference"
	"github.com/trtmc-go/trtmc/native/task"
)

// serves reports whether a bundle declares one of the Tasks. A bundle of which nothing is known may serve all.
func (s served) serves(tasks []task.ID) bool {
	return s.tasks == nil || slices.ContainsFunc(tasks, func(id task.ID) bool { return slices.Contains(s.tasks, id) })
}

// chooseModel returns the first bundle that serves a workload.
func chooseModel(models []served, w workload) (served, error) {
	for _, m := range models {
		if m.serves(w.tasks) {
			return m, nil
		}
	}
	var names []string
	for _, m := range models {
		names = append(names, m.name)
	}
	return served{}, fmt.Errorf("no bundle for it: none of %s declares %s", strings.Join(names, ", "), taskNames(w.tasks))
}

func taskNames(tasks []task.ID) string {
	names := make([]string, len(tasks))
	for i, id := range tasks {
		names[i] = string(id)
	}
	return strings.Join(names, " or ")
}

// bundlesOf describes the bundles of -model. Without any, it writes a reference bundle for each requested workload.
func bundlesOf(set *settings, dir string) ([]served, error) {
	var out []served
	for _, m := range set.models {
		s, err := describeBundle(m.name, m.bundle, set.context)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, w := range set.chosen() {
		params := w.reference(set)
		if f, ok := faults()[set.fault]; ok && f.workload == w.name {
			params.Fault = &f.fault
		}
		path := filepath.Join(dir, w.bundle+".bundle")
		if err := reference.WriteBundle(path, params); err != nil {
			return nil, err
		}
		s, err := describeBundle(w.model, path, set.context)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// lanesOf is how many handles of a bundle are loaded: as many as the neediest of its workloads asks for.
func lanesOf(set *settings, m served) int {
	lanes := 1
	for _, w := range set.chosen() {
		if m.serves(w.tasks) {
			lanes = max(lanes, w.lanes(set))
		}
	}
	return lanes
}
