package video

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits bound a request. Zero fields have the defaults named.
type Limits struct {
	BodyBytes   int64 // 1 MiB
	PromptBytes int   // each of prompt and negative_prompt: 32 KiB
	Frames      int   // 1000
	Steps       int   // 1000
}

func (l Limits) withDefaults() Limits {
	if l.BodyBytes == 0 {
		l.BodyBytes = 1 << 20
	}
	if l.PromptBytes == 0 {
		l.PromptBytes = 32 << 10
	}
	if l.Frames == 0 {
		l.Frames = 1000
	}
	if l.Steps == 0 {
		l.Steps = 1000
	}
	return l
}

// Request is a decoded request for a job.
type Request struct {
	RequestID string // identity of the HTTP request, empty when it has none
	Tag       string // of the creator, kept with the job and never shown
	Model     string // empty when the request names none
	User      string // accepted for clients that send it, and kept with the job
	Spec      Spec
}

// DecodeError says why a request is refused. It is always the client's error.
type DecodeError struct {
	Param string // field of the request; empty for the body as a whole
	Msg   string // what is wrong and what would be right
	Code  string // CodeInvalid, CodeUnsupported or CodeTooLarge
}

// Error returns the field and the reason in one line.
func (e *DecodeError) Error() string {
	if e.Param == "" {
		return "body: " + e.Msg
	}
	return e.Param + ": " + e.Msg
}

func invalid(param, format string, args ...any) error {
	return &DecodeError{Param: param, Code: CodeInvalid, Msg: fmt.Sprintf(format, args...)}
}

// fields collects the fields of one request, whatever form they came in.
type fields struct {
	req    Request
	seen   map[string]bool
	limits Limits
}

func newFields(limits Limits) *fields {
	return &fields{seen: map[string]bool{}, limits: limits.withDefaults()}
}

// set reads one field. Text says that the value was written as text: every form value is, and JSON clients may write
// numbers so. Only prompt, negative_prompt, model and user must be text.
func (f *fields) set(name, value string, text bool) error {
	if f.seen[name] {
		return invalid(clip(name), "is there twice")
	}
	f.seen[name] = true
	if !utf8.ValidString(value) {
		return invalid(clip(name), "is not valid UTF-8")
	}
	var err error
	s := &f.req.Spec
	switch name {
	case "prompt":
		s.Prompt, err = f.prompt(name, value, text)
	case "negative_prompt":
		var v string
		if v, err = f.prose(name, value, text); err == nil {
			s.NegativePrompt = &v
		}
	case "model":
		f.req.Model, err = word(name, value, text)
	case "user":
		f.req.User, err = word(name, value, text)
	case "size":
		s.Width, s.Height, err = parseSize(value)
	case "seconds":
		s.Seconds, err = seconds(value)
	case "fps":
		s.FPS, err = fps(value)
	case "num_frames":
		var n int64
		n, err = whole(name, value, 1, int64(f.limits.Frames))
		s.Frames = int(n)
	case "num_inference_steps":
		s.Steps, err = wholePtr(name, value, 1, int64(f.limits.Steps))
	case "seed":
		s.Seed, err = wholePtr(name, value, math.MinInt64, math.MaxInt64)
	case "guidance_scale":
		s.Guidance, err = number(name, value)
	case "input_reference":
		return &DecodeError{Param: name, Code: CodeUnsupported, Msg: "this service makes clips from text alone"}
	default:
		return &DecodeError{Param: clip(name), Code: CodeUnsupported, Msg: "unknown field, want one of: " + known}
	}
	return err
}

const known = "prompt, negative_prompt, model, user, size, seconds, fps, num_frames, num_inference_steps, seed, guidance_scale, extra_body"

func (f *fields) done() (*Request, error) {
	if !f.seen["prompt"] {
		return nil, invalid("prompt", "missing")
	}
	return &f.req, nil
}

func (f *fields) prompt(name, value string, text bool) (string, error) {
	if strings.TrimSpace(value) == "" {
		return "", invalid(name, "want text, got none")
	}
	return f.prose(name, value, text)
}

func (f *fields) prose(name, value string, text bool) (string, error) {
	if !text {
		return "", invalid(name, "want a string")
	}
	if len(value) > f.limits.PromptBytes {
		return "", &DecodeError{Param: name, Code: CodeTooLarge, Msg: fmt.Sprintf("%d bytes long, the limit is %d", len(value), f.limits.PromptBytes)}
	}
	return value, nil
}

func word(name, value string, text bool) (string, error) {
	if !text || value == "" || len(value) > 256 {
		return "", invalid(name, "want a string of 1 to 256 bytes")
	}
	return value, nil
}

func parseSize(v string) (width, height int, err error) {
	w, h, two := strings.Cut(v, "x")
	side := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || !digits(s) || s[0] == '0' || len(s) > 5 {
			return 0
		}
		return n
	}
	if width, height = side(w), side(h); !two || width == 0 || height == 0 {
		return 0, 0, invalid("size", "want WIDTHxHEIGHT such as 832x480, got %q", clip(v))
	}
	if err := checkSize(width, height); err != nil {
		return 0, 0, invalid("size", "%v", err)
	}
	return width, height, nil
}

func seconds(v string) (float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || !decimal(v) || n <= 0 || n > 3600 {
		return 0, invalid("seconds", "want a number above 0 and at most 3600, got %q", clip(v))
	}
	return n, nil
}

func fps(v string) (Rate, error) {
	r, err := ParseRate(v)
	if err != nil {
		return Rate{}, invalid("fps", "%v", err)
	}
	return r, nil
}

func number(name, v string) (*float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || !decimal(v) {
		return nil, invalid(name, "want a number, got %q", clip(v))
	}
	return &n, nil
}

// decimal tells plain numbers from what else strconv reads: NaN, infinities, hexadecimal, underscores.
func decimal(v string) bool { return v != "" && strings.Trim(v, "+-.0123456789eE") == "" }

func whole(name, v string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > most || v[0] == '+' {
		return 0, invalid(name, "want a whole number from %d to %d, got %q", least, most, clip(v))
	}
	return n, nil
}

func wholePtr(name, v string, least, most int64) (*int64, error) {
	n, err := whole(name, v, least, most)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// DecodeJSON reads a request from a JSON object. Null is the same as absent; an object extra_body is merged into the
// fields. The error is a [*DecodeError].
func DecodeJSON(body []byte, limits Limits) (*Request, error) {
	f := newFields(limits)
	if int64(len(body)) > f.limits.BodyBytes {
		return nil, tooLarge(f.limits.BodyBytes)
	}
	if err := f.object(body, "", true); err != nil {
		return nil, err
	}
	return f.done()
}

// object reads the fields of one JSON object.
func (f *fields) object(body []byte, param string, outer bool) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return invalid(param, "want a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return invalid(param, "invalid JSON: %v", err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return invalid(param, "invalid JSON: %v", err)
		}
		if err := f.member(key.(string), raw, outer); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return invalid(param, "invalid JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return invalid(param, "more data after the object")
	}
	return nil
}

// member reads one member of a JSON object.
func (f *fields) member(name string, raw json.RawMessage, outer bool) error {
	if name == "extra_body" && outer {
		return f.extra(raw)
	}
	switch raw[0] {
	case 'n':
		return nil
	case '"':
		var v string
		// encoding/json would read half a surrogate pair or a bad byte as U+FFFD, and so change a prompt unseen.
		if err := json.Unmarshal(raw, &v); err != nil || !utf8.Valid(raw) || halfPair(raw) {
			return invalid(clip(name), "is not valid UTF-8")
		}
		return f.set(name, v, true)
	}
	return f.set(name, string(raw), false)
}

// halfPair reports whether a valid JSON string holds an escape that is one half of a surrogate pair.
func halfPair(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		r := escape(raw[i:])
		if !utf16.IsSurrogate(r) {
			continue
		}
		rest := raw[i+5:]
		if len(rest) < 2 || rest[0] != '\\' || utf16.DecodeRune(r, escape(rest[1:])) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escape returns the code unit of an escape uXXXX, 0 for any other.
func escape(b []byte) rune {
	if len(b) < 5 || b[0] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[1:5]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

func (f *fields) extra(raw json.RawMessage) error {
	if f.seen["extra_body"] {
		return invalid("extra_body", "is there twice")
	}
	f.seen["extra_body"] = true
	if string(raw) == "null" {
		return nil
	}
	return f.object(raw, "extra_body", false)
}

func tooLarge(limit int64) error {
	return &DecodeError{Code: CodeTooLarge, Msg: fmt.Sprintf("longer than the limit of %d bytes", limit)}
}

// DecodeForm reads a request from a multipart/form-data body, in which every value is text; extra_body is the text of
// a JSON object. Files are refused. The error is a [*DecodeError].
func DecodeForm(body []byte, boundary string, limits Limits) (*Request, error) {
	f := newFields(limits)
	if int64(len(body)) > f.limits.BodyBytes {
		return nil, tooLarge(f.limits.BodyBytes)
	}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return f.done()
		}
		if err != nil {
			return nil, invalid("", "invalid multipart body: %v", err)
		}
		if err := f.part(part); err != nil {
			return nil, err
		}
	}
}

func (f *fields) part(part *multipart.Part) error {
	name := part.FormName()
	if name == "" {
		return invalid("", "a part has no name")
	}
	value, err := io.ReadAll(part)
	if err != nil {
		return invalid(clip(name), "invalid multipart body: %v", err)
	}
	switch {
	case part.FileName() != "" && name != "input_reference":
		return &DecodeError{Param: clip(name), Code: CodeUnsupported, Msg: "files are not taken here"}
	case name == "extra_body":
		return f.extra(value)
	}
	return f.set(name, string(value), true)
}
