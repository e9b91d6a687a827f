package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/trtmc-go/trtmc/native"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/video"
)

// serve opens the runtime, the models and the port, and serves until ctx ends. The port comes first, so that one in use
// is known before bundles are loaded; clients that come early wait.
func serve(ctx context.Context, set *settings, stdout, stderr io.Writer) (err error) {
	key, err := readKey(set.keyFile)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", set.addr)
	if err != nil {
		return err
	}
	defer ln.Close()
	rt, err := native.Open(native.Options{Library: set.runtime, RuntimeRoot: set.runtimeRoot})
	if err != nil {
		return err
	}
	// A call that a shutdown gave up waiting for is still inside the runtime, which then cannot be closed.
	defer func() {
		if stuck := (*serving.ShutdownError)(nil); !errors.As(err, &stuck) {
			err = errors.Join(err, rt.Close())
		}
	}()
	cfg := config(set, key, stderr)
	models, own, err := withReference(set.models)
	if err != nil {
		return err
	}
	defer own.remove()
	for _, m := range models {
		loaded, err := load(rt, m, set)
		if err != nil {
			return err
		}
		cfg.Models = append(cfg.Models, loaded)
	}
	if cfg.Video.Dir, err = videoDir(cfg.Models, set.videoDir, own.dir); err != nil {
		return err
	}
	lanes := 0
	for _, m := range cfg.Models {
		lanes += len(m.Lanes)
	}
	// A native call keeps its slot of the Go scheduler until the runtime's monitor takes it back, which can last 10 ms.
	// With one more slot for each lane, calls that wait do not keep requests from being taken.
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(procs + lanes)
	defer runtime.GOMAXPROCS(procs)
	if set.records != "" {
		w, err := record.OpenWriter(set.records)
		if err != nil {
			return err
		}
		cfg.Records = w
		return errors.Join(listen(ctx, cfg, ln, rt, stdout), w.Close())
	}
	return listen(ctx, cfg, ln, rt, stdout)
}

func config(set *settings, key string, stderr io.Writer) serving.Config {
	queue := serving.Queue{Count: set.queue, Bytes: set.queueBytes, Wait: set.queueWait}
	if set.queue == 0 {
		queue.Count = -1 // none at all; 0 would be the default length
	}
	return serving.Config{
		Queue: queue, Limits: serving.Limits{BodyBytes: set.maxBody, PromptBytes: set.maxPrompt}, APIKey: key, Grace: set.grace,
		Video:  serving.VideoOptions{Queue: set.videoQueue, TTL: set.videoTTL},
		Logger: slog.New(slog.NewTextHandler(stderr, nil)),
	}
}

// videoDir is where video jobs are kept: dir, or a folder beside the bundle that was written; empty when no model makes
// videos.
func videoDir(models []serving.Model, dir, own string) (string, error) {
	for _, m := range models {
		switch _, ok := m.Lanes[0].Info().Decl(task.TextToVideo); {
		case !ok || dir != "":
		case own != "" && video.HasEncoder:
			return filepath.Join(own, "videos"), nil
		case own == "":
			return "", fmt.Errorf("model %q declares text_to_video: want -video-dir, a directory for jobs and their files", m.Name)
		}
	}
	return dir, nil
}

func listen(ctx context.Context, cfg serving.Config, ln net.Listener, rt *native.Runtime, stdout io.Writer) error {
	s, err := serving.New(cfg)
	if err != nil {
		return err
	}
	names := make([]string, len(cfg.Models))
	for i, m := range cfg.Models {
		names[i] = m.Name
	}
	fmt.Fprintf(stdout, "serving %s on http://%s (runtime %s, %d lanes each)\n", strings.Join(names, ", "), ln.Addr(), rt.Version(), len(cfg.Models[0].Lanes))
	return s.Serve(ctx, ln)
}

// readKey returns the key in a file, without the white space around it.
func readKey(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read API key: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("read API key: %q holds none", path)
	}
	return key, nil
}
