package qual

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/trtmc-go/trtmc/trace"
)

// readSingleTurn reads a file of one JSON object a line, each with an id of its own, and returns what parse made of the
// lines and the sha256 of what was read. The first bad line ends it with a [*trace.SyntaxError]. Blank lines are passed
// over; a file without entries is an error. what names an entry in errors.
func readSingleTurn[T any](r io.Reader, name, what string, parse func(pos trace.Pos, line []byte) (id string, entry T, err error)) ([]T, string, error) {
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r, sum))
	lines.Buffer(nil, trace.MaxLine)
	var out []T
	seen := map[string]int{}
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		pos := trace.Pos{File: name, Line: n}
		id, entry, err := parse(pos, line)
		if first, double := seen[id]; err == nil && double {
			err = fmt.Errorf("session_id %q stands in line %d already; every %s needs its own", id, first, what)
		}
		if err != nil {
			return nil, "", &trace.SyntaxError{Pos: pos, Msg: err.Error()}
		}
		seen[id] = n
		out = append(out, entry)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, "", &trace.SyntaxError{Pos: trace.Pos{File: name, Line: n + 1}, Msg: fmt.Sprintf("longer than %d bytes", trace.MaxLine)}
	} else if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, "", fmt.Errorf("read %s: no %s", name, what)
	}
	return out, hex.EncodeToString(sum.Sum(nil)), nil
}
