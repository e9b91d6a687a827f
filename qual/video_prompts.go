package qual

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/trace"
	"github.com/trtmc-go/trtmc/video"
)

// VideoPrompt is one clip to ask for.
type VideoPrompt struct {
	trace.Pos
	ID    string          // session_id, unique in its file
	Text  string          // the prompt
	Extra json.RawMessage // an object: the other fields of the request, as they stand in the file
}

// VideoPrompts is a file of prompts.
type VideoPrompts struct {
	Name    string // as given to the reader
	SHA256  string // of the bytes that were read
	Prompts []VideoPrompt
}

// ReadVideoPrompts reads a file of prompts, one JSON object a line in the single_turn form of AIPerf:
//
//	{"session_id":"vid-000","text":"a red ball","extra":{"size":"832x480","num_frames":17,"fps":16,"seed":100}}
//
// It is strict: unknown and doubled names, prompts without words, settings that /v1/videos does not know, and doubled
// ids are refused with a [*trace.SyntaxError] that names file and line. Blank lines are passed over; a file without
// prompts is an error.
func ReadVideoPrompts(r io.Reader, name string) (*VideoPrompts, error) {
	entries, sum, err := readSingleTurn(r, name, "prompt", func(pos trace.Pos, line []byte) (string, VideoPrompt, error) {
		p, err := parsePrompt(line)
		p.Pos = pos
		return p.ID, p, err
	})
	if err != nil {
		return nil, err
	}
	return &VideoPrompts{Name: name, SHA256: sum, Prompts: entries}, nil
}

func parsePrompt(line []byte) (VideoPrompt, error) {
	var p VideoPrompt
	if !utf8.Valid(line) {
		return p, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	err := members(dec, []string{"session_id", "text", "extra"}, func(key string) (err error) {
		switch key {
		case "session_id":
			p.ID, err = stringToken(dec)
		case "text":
			p.Text, err = stringToken(dec)
		default:
			if err = dec.Decode(&p.Extra); err != nil {
				err = jsonError(err)
			}
		}
		return err
	})
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text after the prompt; want one JSON object a line")
		}
	}
	switch {
	case err != nil:
		return p, err
	case p.ID == "" || len(p.ID) > maxGroupID || strings.ContainsFunc(p.ID, notInID):
		return p, fmt.Errorf("session_id %q: want 1 to %d of A-Z a-z 0-9 . _ -", p.ID, maxGroupID)
	case strings.TrimSpace(p.Text) == "":
		return p, errors.New("text: want a prompt, got none")
	}
	if _, err := p.body("m"); err != nil {
		return p, err
	}
	return p, nil
}

// body returns the JSON body of a creation: prompt, model, then the other fields in the order of the file, as AIPerf
// orders its form. Fields that would be there twice are refused.
func (p VideoPrompt) body(model string) ([]byte, error) {
	var out bytes.Buffer
	head := struct {
		Prompt string `json:"prompt"`
		Model  string `json:"model"`
	}{p.Text, model}
	if err := appendJSONLine(&out, head); err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(out.Bytes())
	extra := bytes.TrimSpace(p.Extra)
	if len(extra) < 2 || extra[0] != '{' {
		return nil, errors.New("extra: want an object of settings")
	}
	if inner := bytes.TrimSpace(extra[1 : len(extra)-1]); len(inner) > 0 {
		body = append(append(body[:len(body)-1], ','), inner...)
		body = append(body, '}')
	}
	if _, err := video.DecodeJSON(body, video.Limits{}); err != nil {
		return nil, within("extra", err)
	}
	return body, nil
}
