package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/qual"
)

// prepareFolder makes the output folder. A folder with foreign content is never touched. An earlier run is replaced
// when the folder is the default one or force is set; only files that a run writes are removed.
func prepareFolder(dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, ownFile)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("output folder %q is not empty and not of an earlier run; name another with -out", dir)
		}
		if !force && dir != defaultOut {
			return fmt.Errorf("output folder %q holds an earlier run; name another with -out, or replace it with -force", dir)
		}
		for _, name := range runFiles() {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("replace the earlier run: %w", err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ownFile), []byte("This folder is written by qualify; an earlier run in it may be replaced.\n"), 0o644); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	for _, name := range []string{qual.WorkloadDir, qual.LogDir, qual.BundleDir} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return fmt.Errorf("output folder: %w", err)
		}
	}
	return nil
}

// ownFile marks a folder as ours from the first moment, so that a run that was interrupted can be replaced.
const ownFile = ".qualify"

func runFiles() []string {
	return []string{qual.RunFile, qual.RecordsFile, qual.ReportJSON, qual.ReportMD, qual.ReportHTML, qual.WorkloadDir, qual.LogDir, qual.BundleDir, qual.EvidenceDir}
}
