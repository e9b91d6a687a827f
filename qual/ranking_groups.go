package qual

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/trace"
)

// RankingGroup is one query with the passages that are to be ranked for it.
type RankingGroup struct {
	trace.Pos
	ID       string // session_id, unique in its file
	Query    string
	Passages []string // at least one
}

// RankingGroups is a file of groups.
type RankingGroups struct {
	Name   string // as given to the reader
	SHA256 string // of the bytes that were read
	Groups []RankingGroup
}

// ReadRankingGroups reads a file of groups, one JSON object a line in the single_turn form of AIPerf:
//
//	{"session_id":"rank-000","texts":[{"name":"query","contents":["..."]},{"name":"passages","contents":["...","..."]}]}
//
// It is strict: unknown, doubled and wrongly cased names, texts without words, invalid UTF-8 and doubled ids are
// refused with a [*trace.SyntaxError] that names file and line. Blank lines are passed over; a file without groups is
// an error.
func ReadRankingGroups(r io.Reader, name string) (*RankingGroups, error) {
	entries, sum, err := readSingleTurn(r, name, "group", func(pos trace.Pos, line []byte) (string, RankingGroup, error) {
		g, err := parseGroup(line)
		g.Pos = pos
		return g.ID, g, err
	})
	if err != nil {
		return nil, err
	}
	return &RankingGroups{Name: name, SHA256: sum, Groups: entries}, nil
}

// maxGroupID leaves room for what the preparation adds to an id: request ids have at most 128 characters.
const maxGroupID = 100

func parseGroup(line []byte) (RankingGroup, error) {
	var g RankingGroup
	if !utf8.Valid(line) {
		return g, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	err := members(dec, []string{"session_id", "texts"}, func(key string) (err error) {
		if key == "session_id" {
			g.ID, err = stringToken(dec)
			return err
		}
		return elements(dec, func() error { return g.texts(dec) })
	})
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text after the group; want one JSON object a line")
		}
	}
	switch {
	case err != nil:
		return g, err
	case g.ID == "" || len(g.ID) > maxGroupID || strings.ContainsFunc(g.ID, notInID):
		return g, fmt.Errorf("session_id %q: want 1 to %d of A-Z a-z 0-9 . _ -", g.ID, maxGroupID)
	case g.Query == "":
		return g, errors.New("texts without a query")
	case len(g.Passages) == 0:
		return g, errors.New("texts without passages")
	}
	return g, nil
}

// texts reads one named list.
func (g *RankingGroup) texts(dec *json.Decoder) error {
	var name string
	var contents []string
	err := members(dec, []string{"name", "contents"}, func(key string) (err error) {
		if key == "name" {
			name, err = stringToken(dec)
			return err
		}
		return elements(dec, func() error {
			text, err := stringToken(dec)
			if err == nil && strings.TrimSpace(text) == "" {
				err = errors.New("want text, got none")
			}
			contents = append(contents, text)
			return err
		})
	})
	switch {
	case err != nil:
		return err
	case name == "query" && g.Query == "" && len(contents) == 1:
		g.Query = contents[0]
	case name == "query":
		return fmt.Errorf("%d texts under query, or a second query; want exactly one text", len(contents))
	case name == "passages" && g.Passages == nil && len(contents) > 0:
		g.Passages = contents
	case name == "passages":
		return errors.New("passages are empty or given twice; want one list with at least one text")
	default:
		return fmt.Errorf("name %q; want query or passages", name)
	}
	return nil
}

func notInID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
}

// members reads an object and calls read for each member, whose value it must take. Every known name must be there
// once, and no other.
func members(dec *json.Decoder, known []string, read func(key string) error) error {
	if err := delim(dec, '{', "an object"); err != nil {
		return err
	}
	var seen []string
	for dec.More() {
		key, err := stringToken(dec)
		switch {
		case err != nil:
			return err
		case !slices.Contains(known, key):
			return fmt.Errorf("unknown member %q; want %s", key, strings.Join(known, ", "))
		case slices.Contains(seen, key):
			return fmt.Errorf("doubled member %q", key)
		}
		seen = append(seen, key)
		if err := read(key); err != nil {
			return within(key, err)
		}
	}
	for _, want := range known {
		if !slices.Contains(seen, want) {
			return fmt.Errorf("%s is missing", want)
		}
	}
	return delim(dec, '}', "the end of an object")
}

// elements reads an array and calls read for each element.
func elements(dec *json.Decoder, read func() error) error {
	if err := delim(dec, '[', "an array"); err != nil {
		return err
	}
	for i := 0; dec.More(); i++ {
		if err := read(); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return delim(dec, ']', "the end of an array")
}

func delim(dec *json.Decoder, want json.Delim, words string) error {
	got, err := dec.Token()
	if err != nil {
		return jsonError(err)
	}
	if got != want {
		return fmt.Errorf("want %s, got %v", words, got)
	}
	return nil
}

func stringToken(dec *json.Decoder) (string, error) {
	got, err := dec.Token()
	if err != nil {
		return "", jsonError(err)
	}
	s, ok := got.(string)
	if !ok {
		return "", fmt.Errorf("want a string, got %v", got)
	}
	return s, nil
}

func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("invalid JSON: the line ends inside a value")
	}
	return fmt.Errorf("invalid JSON: %w", err)
}

// placed is an error with the JSON path of the value that it is about, such as texts[1].contents[0].
type placed struct {
	path string
	err  error
}

func (p *placed) Error() string { return p.path + ": " + p.err.Error() }

func (p *placed) Unwrap() error { return p.err }

// within puts a name or index before the path of an error.
func within(place string, err error) error {
	switch p, ok := err.(*placed); {
	case err == nil:
		return nil
	case !ok:
		return &placed{place, err}
	case p.path[0] == '[':
		return &placed{place + p.path, p.err}
	default:
		return &placed{place + "." + p.path, p.err}
	}
}
