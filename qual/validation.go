package qual

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// EvidenceDir is the folder, in an output folder, of evidence that belongs to no workload.
const EvidenceDir = "evidence"

// ValidationSchema is the version written into every validation-N.json. A reader refuses any other.
const ValidationSchema = 1

// SkippedExit is the exit code by which a validation command says that it was skipped, as GNU Automake has it.
const SkippedExit = 77

// Validation is the evidence of one validation command: the checkpoint owner's correctness case, run before serving.
// It is in evidence/validation-N.json; its output is beside it.
type Validation struct {
	Schema       int       `json:"schema"`
	Model        string    `json:"model"` // served name of the bundle that it is about
	Command      []string  `json:"command"`
	Environment  []string  `json:"environment"` // NAME=VALUE that the plan adds
	Started      time.Time `json:"started"`     // UTC
	WallNS       int64     `json:"wall_ns"`
	ExitCode     int       `json:"exit_code"` // -1 when it could not be started or a signal ended it
	Error        string    `json:"error,omitempty"`
	BundleBefore string    `json:"bundle_sha256_before"`
	BundleAfter  string    `json:"bundle_sha256_after"`
	Stdout       string    `json:"stdout"` // file beside this one
	Stderr       string    `json:"stderr"`
}

// Result is what the exit code says: "passed", "skipped" or "failed".
func (v Validation) Result() string {
	switch v.ExitCode {
	case 0:
		return "passed"
	case SkippedExit:
		return "skipped"
	}
	return "failed"
}

// WriteValidation writes the nth validation of a run.
func WriteValidation(dir string, n int, v Validation) error {
	data, err := encodeJSON(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, EvidenceDir, fmt.Sprintf("validation-%d.json", n)), data, 0o644)
}

// readValidations reads the validations of a run. One that cannot be read, or is not sealed, is a failed check.
func (j *judge) readValidations() []Validation {
	files, err := fs.Glob(os.DirFS(j.dir), path.Join(EvidenceDir, "validation-*.json"))
	if err != nil || len(files) == 0 {
		return nil
	}
	slices.Sort(files)
	var out []Validation
	var problems []string
	for _, name := range files {
		v, err := readValidation(filepath.Join(j.dir, filepath.FromSlash(name)))
		sealed := slices.ContainsFunc(j.run.Sealed, func(f FileDigest) bool { return f.Path == name })
		switch {
		case err != nil:
			problems = append(problems, name+": "+err.Error())
		case !sealed:
			problems = append(problems, name+" is not among the files that the run sealed")
		case v.Result() == "failed":
			problems = append(problems, fmt.Sprintf("%s: the validation of %s ended with exit code %d %s", name, v.Model, v.ExitCode, v.Error))
		case v.BundleBefore != v.BundleAfter:
			problems = append(problems, fmt.Sprintf("%s: the bundle of %s changed while it was validated", name, v.Model))
		}
		if err == nil && sealed {
			out = append(out, v)
		}
	}
	j.check("validation commands", "", problems, validationWords(out))
	return out
}

func readValidation(path string) (Validation, error) {
	var v Validation
	data, err := os.ReadFile(path)
	if err != nil {
		return v, errors.New("cannot be read")
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, err
	}
	if v.Schema != ValidationSchema {
		return v, fmt.Errorf("schema %d, want %d", v.Schema, ValidationSchema)
	}
	return v, nil
}

func validationWords(all []Validation) string {
	words := ""
	for i, v := range all {
		if i > 0 {
			words += ", "
		}
		words += v.Model + " " + v.Result()
	}
	return words
}
