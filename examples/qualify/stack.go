package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/qual"
)

// gpuQueryLimit is how long nvidia-smi may take; it can hang when a driver is broken.
const gpuQueryLimit = 10 * time.Second

// stackFacts describes what is below the program. Call it when all bundles are loaded: libraries come with them.
func stackFacts(ctx context.Context) *qual.Stack {
	s := &qual.Stack{GPUs: []qual.GPU{}, Libraries: []qual.Library{}, Container: containerHint()}
	gpus, err := queryGPUs(ctx)
	if err != nil {
		s.GPUQuery = err.Error()
	} else {
		s.GPUs = gpus
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return s // no such file on this system: libraries stay unknown
	}
	files := mappedFiles(string(maps))
	s.Libraries = nativeLibraries(files)
	s.LibC = libcVersion(files)
	return s
}

// queryGPUs asks nvidia-smi, when there is one.
func queryGPUs(ctx context.Context) ([]qual.GPU, error) {
	tool, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, errors.New("nvidia-smi is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, gpuQueryLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("nvidia-smi gave no answer: %w", ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("nvidia-smi: %w", err)
	}
	return parseGPUs(out)
}

// parseGPUs reads one line a device: name, driver, memory in MiB, compute capability.
func parseGPUs(out []byte) ([]qual.GPU, error) {
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord, r.TrimLeadingSpace = 4, true
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: unexpected answer: %w", err)
	}
	if len(lines) == 0 {
		return nil, errors.New("nvidia-smi lists no device")
	}
	var gpus []qual.GPU
	for _, f := range lines {
		g := qual.GPU{Name: strings.TrimSpace(f[0]), Driver: strings.TrimSpace(f[1]), ComputeCapability: strings.TrimSpace(f[3])}
		// Memory can be "[N/A]", with unified memory for example; 0 stands for unknown.
		g.MemoryMiB, _ = strconv.ParseInt(strings.TrimSpace(f[2]), 10, 64)
		gpus = append(gpus, g)
	}
	return gpus, nil
}

// mappedFiles are the files of a text in the form of /proc/self/maps, sorted.
func mappedFiles(maps string) []string {
	var files []string
	for line := range strings.Lines(maps) {
		// Address, rights, offset, device and inode stand before the path, which may hold spaces.
		if i := strings.IndexByte(line, '/'); i > 0 && len(strings.Fields(line[:i])) == 5 {
			files = append(files, strings.TrimSuffix(strings.TrimSpace(line[i:]), " (deleted)"))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// nativeLibraries are the libraries among files whose versions decide what a figure means.
func nativeLibraries(files []string) []qual.Library {
	out := []qual.Library{}
	for _, file := range files {
		base := filepath.Base(file)
		for _, prefix := range []string{"libtrtmc", "libnvinfer", "libcudart", "libcuda.so", "libcublas", "libcudnn"} {
			if strings.HasPrefix(base, prefix) {
				sum, _, err := digest(file)
				if err != nil {
					sum = "" // replaced or removed since it was loaded
				}
				out = append(out, qual.Library{File: base, SHA256: sum})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b qual.Library) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.SHA256, b.SHA256))
	})
	return out
}

// libcVersion finds the version that glibc states in its own file, among the files that are loaded.
func libcVersion(files []string) string {
	for _, file := range files {
		if filepath.Base(file) != "libc.so.6" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		const mark = "stable release version "
		if _, rest, ok := bytes.Cut(data, []byte(mark)); ok {
			end := bytes.IndexFunc(rest, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
			return "glibc " + strings.TrimSuffix(string(rest[:max(end, 0)]), ".")
		}
	}
	return ""
}

// containerHint names what hints at a container, or says that nothing does.
func containerHint() string {
	switch {
	case exists("/.dockerenv"):
		return "docker"
	case exists("/run/.containerenv"):
		return "podman"
	case os.Getenv("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes"
	case os.Getenv("container") != "":
		return os.Getenv("container")
	}
	return "no hint at a container"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
