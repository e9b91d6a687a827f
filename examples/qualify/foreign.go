package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/qual"
)

// foreignServer is a server that runs already, with the file into which it writes its records. Only what it appends
// from now on belongs to the run.
func foreignServer(set *settings, dir string) (*target, error) {
	size, err := fileSize(set.records)
	if err != nil {
		return nil, fmt.Errorf("records of the server: %w", err)
	}
	m := set.models[0]
	t := &target{base: strings.TrimRight(set.url, "/"), model: served{name: m.name, path: m.bundle, context: set.context}}
	if m.bundle != "" {
		if t.model, err = describeBundle(m.name, m.bundle, set.context); err != nil {
			return nil, err
		}
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
