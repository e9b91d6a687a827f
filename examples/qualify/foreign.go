package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/qual"
)

// foreignServer is a server that runs already, with the file into which it writes its records. Only what it appends
// from now on belongs to the run.
func foreignServer(ctx context.Context, set *settings, dir string) (*target, error) {
	size, err := fileSize(set.records)
	if err != nil {
		return nil, fmt.Errorf("records of the server: %w", err)
	}
	t := &target{base: strings.TrimRight(set.url, "/"), direct: func(m served) (task.Model, func() error, error) { return loadDirect(set, m) }}
	for _, m := range set.models {
		one := served{name: m.name, context: set.context, facts: qual.BundleFacts{Model: m.name}}
		if m.bundle != "" {
			if one, err = describeBundle(m.name, m.bundle, set.context); err != nil {
				return nil, err
			}
		}
		t.models = append(t.models, one)
	}
	if err := t.ask(ctx); err != nil {
		return nil, fmt.Errorf("server at %s: %w", t.base, err)
	}
	t.stop = func() qual.ExitFacts {
		exit := qual.ExitFacts{Drained: true}
		if err := copyRecords(set.records, filepath.Join(dir, qual.RecordsFile), size); err != nil {
			exit.ServerError = err.Error()
		}
		return exit
	}
	return t, nil
}

// loadDirect loads the bundle of a foreign server's model in this process, where it was named.
func loadDirect(set *settings, m served) (task.Model, func() error, error) {
	rt, err := native.Open(native.Options{Library: set.runtime, RuntimeRoot: set.root})
	if err != nil {
		return nil, nil, err
	}
	model, err := rt.Load(m.path, native.LoadOptions{})
	if err != nil {
		return nil, nil, errors.Join(err, rt.Close())
	}
	return model, rt.Close, nil // it closes its models
}

// servingInfo is what this program reads of /v1/serving/info.
type servingInfo struct {
	Models []struct {
		Name            string `json:"name"`
		Runtime         string `json:"runtime"`
		Reference       bool   `json:"reference"`
		Family          string `json:"family"`
		Backend         string `json:"backend"`
		BundleTask      string `json:"bundle_task"`
		Lanes           int    `json:"lanes"`
		ContextTokens   int    `json:"context_tokens"`
		MaxOutputTokens int    `json:"max_output_tokens"`
		Tasks           []struct {
			ID task.ID `json:"id"`
		} `json:"tasks"`
	} `json:"models"`
	Queue struct {
		Count  int     `json:"count"`
		Bytes  int64   `json:"bytes"`
		WaitMS float64 `json:"wait_ms"`
	} `json:"queue"`
}

// infoTimeout bounds the one question to a foreign server.
const infoTimeout = 10 * time.Second

// ask takes what the server says of itself and of the models.
func (t *target) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+"/v1/serving/info", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var info servingInfo
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("/v1/serving/info: status %d", resp.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&info); err != nil {
		return fmt.Errorf("/v1/serving/info: %w", err)
	}
	t.facts = qual.ServerFacts{QueueCount: info.Queue.Count, QueueBytes: info.Queue.Bytes, QueueWaitMS: info.Queue.WaitMS}
	for i := range t.models {
		if err := t.learn(&t.models[i], &info); err != nil {
			return err
		}
	}
	return nil
}

// learn takes what the server says of one model.
func (t *target) learn(b *served, info *servingInfo) error {
	for _, m := range info.Models {
		if m.Name != b.name {
			continue
		}
		t.runtime = qual.RuntimeFacts{Version: m.Runtime, Reference: m.Reference, Library: "of the foreign server"}
		t.facts.Lanes += m.Lanes
		b.facts.Family, b.facts.Backend, b.facts.Task, b.facts.Lanes = m.Family, m.Backend, m.BundleTask, m.Lanes
		if b.context == 0 {
			b.context = m.ContextTokens
		}
		if b.maximum == 0 {
			b.maximum = m.MaxOutputTokens
		}
		b.tasks = []task.ID{}
		for _, d := range m.Tasks {
			b.tasks, b.facts.Tasks = append(b.tasks, d.ID), append(b.facts.Tasks, string(d.ID))
		}
		return nil
	}
	return fmt.Errorf("it does not serve a model %q", b.name)
}

// fileSize returns the size of a file, 0 when it does not exist yet.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a file", path)
	}
	return info.Size(), nil
}

// settleTime is how long a foreign server's record file must stay unchanged to be taken as finished: its records are
// written at once, and a client sees an answer end a moment before its record is handed over.
const settleTime = time.Second

// copyRecords copies what was appended after from, once the file is quiet.
func copyRecords(src, dst string, from int64) error {
	size, err := fileSize(src)
	for quiet := time.Now(); err == nil && time.Since(quiet) < settleTime; {
		time.Sleep(settleTime / 10)
		last := size
		if size, err = fileSize(src); size != last {
			quiet = time.Now()
		}
	}
	if err != nil {
		return fmt.Errorf("records of the server: %w", err)
	}
	in, err := os.Open(src)
	if err != nil {
		return fmt.Errorf("records of the server: %w", err)
	}
	defer in.Close()
	if _, err := in.Seek(from, io.SeekStart); err != nil {
		return fmt.Errorf("records of the server: %w", err)
	}
	out, err := os.Create(dst)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
