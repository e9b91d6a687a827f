package qual

import (
	"fmt"
	"strings"
)

// Stack is the hardware and software below the program, as far as the system tells it without privileges.
type Stack struct {
	LibC      string `json:"libc,omitempty"`      // e.g. "glibc 2.39"
	Container string `json:"container,omitempty"` // what hints at one, e.g. "docker"
	GPUs      []GPU  `json:"gpus"`                // as nvidia-smi lists them
	GPUQuery  string `json:"gpu_query,omitempty"` // why GPUs is empty
	// Libraries are those of the TRTMC, TensorRT and CUDA runtimes in the process once all bundles were loaded.
	Libraries []Library `json:"libraries"`
}

// GPU is one device as nvidia-smi describes it; what it does not say stays empty.
type GPU struct {
	Name              string `json:"name"`
	Driver            string `json:"driver"`
	MemoryMiB         int64  `json:"memory_mib,omitempty"`
	ComputeCapability string `json:"compute_capability,omitempty"`
}

// Library is a native library that the process had loaded.
type Library struct {
	File   string `json:"file"` // base name
	SHA256 string `json:"sha256,omitempty"`
}

// precisionNotReported stands for a precision that neither bundle nor Task reports.
const precisionNotReported = "not reported"

// precision returns the effective precision of a bundle as it is reported.
func (b BundleFacts) precision() string {
	if p, ok := b.Params["precision"].(string); ok && p != "" {
		return p
	}
	return precisionNotReported
}

// rows describes the stack for the table of the environment. A run that did not look gives none.
func (s *Stack) rows() [][]string {
	if s == nil {
		return nil
	}
	var out [][]string
	for i, g := range s.GPUs {
		out = append(out, []string{fmt.Sprintf("GPU %d", i), fmt.Sprintf("%s, driver %s, %d MiB, compute capability %s", g.Name, g.Driver, g.MemoryMiB, orUnknown(g.ComputeCapability))})
	}
	if len(s.GPUs) == 0 {
		out = append(out, []string{"GPU", "none: " + orUnknown(s.GPUQuery)})
	}
	libraries := make([]string, len(s.Libraries))
	for i, l := range s.Libraries {
		libraries[i] = l.File + " sha256 " + orUnknown(l.SHA256)
	}
	if len(libraries) == 0 {
		libraries = []string{"none of TRTMC, TensorRT or CUDA"}
	}
	return append(out, []string{"loaded libraries", strings.Join(libraries, ", ")},
		[]string{"C library, container", orUnknown(s.LibC) + ", " + orUnknown(s.Container)})
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}
