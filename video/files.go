package video

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Variant is which file of a job is meant.
type Variant string

// The variants that a completed job has.
const (
	VideoMP4      Variant = "video"
	ThumbnailJPEG Variant = "thumbnail"
)

// Names of files: the job's id and the variant's suffix, and tempSuffix behind them until the file is whole.
const (
	idPrefix   = "video_"
	mp4Suffix  = ".mp4"
	jpegSuffix = ".jpg"
	tempSuffix = ".tmp"
)

func (v Variant) suffix() string {
	if v == ThumbnailJPEG {
		return jpegSuffix
	}
	return mp4Suffix
}

// artifactFile is what is needed of a file while an artifact is written to it.
type artifactFile interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Sync() error
}

// files are the artifacts on disk, in a directory of their own. A file that has its final name is whole.
type files struct {
	dir    string
	create func(path string) (artifactFile, error)
	crash  func(point string) // as in Config
}

func openFiles(dir string, crash func(string)) (*files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open artifacts: %w", err)
	}
	return &files{
		dir: dir,
		create: func(path string) (artifactFile, error) {
			return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		},
		crash: crash,
	}, nil
}

func (f *files) path(id string, v Variant) string { return filepath.Join(f.dir, id+v.suffix()) }

// save writes a file under a temporary name, brings it to the disk, reads it back with verify, and gives it its name.
// On an error nothing of it is left.
func (f *files) save(id string, v Variant, write func(io.Writer) error, verify func(io.ReaderAt) error) (err error) {
	path := f.path(id, v)
	temp := path + tempSuffix
	out, err := f.create(temp)
	if err != nil {
		return fmt.Errorf("create artifact: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(temp))
		}
	}()
	f.crash("temp created")
	buffered := bufio.NewWriterSize(out, 256<<10)
	err = write(buffered)
	for _, step := range []func() error{buffered.Flush, out.Sync, func() error { return verify(out) }} {
		if err == nil {
			err = step()
		}
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write artifact: %w", err)
	}
	f.crash("temp written")
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("rename artifact: %w", err)
	}
	f.crash("renamed")
	return f.sync()
}

// sync makes names in the directory durable.
func (f *files) sync() error {
	d, err := os.Open(f.dir)
	if err != nil {
		return fmt.Errorf("sync artifacts: %w", err)
	}
	err = d.Sync()
	// Not every file system can do this; those that cannot say so in one of these ways.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// remove removes what a job has on disk; what is not there is no error.
func (f *files) remove(id string) error {
	return errors.Join(remove(f.path(id, VideoMP4)), remove(f.path(id, ThumbnailJPEG)))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove artifact: %w", err)
	}
	return nil
}

// sweep removes every file that is not of a job in keep, temporary ones too, and returns how many.
func (f *files) sweep(keep map[string]bool) (int, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0, fmt.Errorf("sweep artifacts: %w", err)
	}
	n := 0
	for _, e := range entries {
		id, isMP4 := strings.CutSuffix(e.Name(), mp4Suffix)
		if !isMP4 {
			id = strings.TrimSuffix(e.Name(), jpegSuffix)
		}
		if !strings.HasPrefix(id, idPrefix) || keep[id] {
			continue
		}
		if err := remove(filepath.Join(f.dir, e.Name())); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// open opens a whole file for reading.
func (f *files) open(id string, v Variant) (*os.File, error) {
	file, err := os.Open(f.path(id, v))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s of %s: %w", v, id, ErrArtifactGone)
	}
	return file, err
}
