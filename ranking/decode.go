package ranking

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// Decode reads the body of POST /v1/ranking: {"model", "query": {"text"}, "passages": [{"text"}, ...], "truncate"},
// of which query and passages must be there. Everything else is refused with a [*DecodeError]; the package comment
// lists what that covers. Zero fields of limits mean their defaults.
//
// The texts of the request are views of body, not copies: body must not be written to while the request is in use.
func Decode(body []byte, limits Limits) (*Request, error) {
	return decode(body, limits, false)
}

// DecodeReranking reads the body of POST /v1/retrieval/{org}/{model}/reranking as [Decode] does; it may also hold
// "top_k", a whole number of at least 1.
func DecodeReranking(body []byte, limits Limits) (*Request, error) {
	return decode(body, limits, true)
}

func decode(body []byte, limits Limits, reranking bool) (*Request, error) {
	limits = limits.withDefaults()
	if int64(len(body)) > limits.BodyBytes {
		return nil, bodyTooLarge(limits.BodyBytes)
	}
	text := unsafe.String(unsafe.SliceData(body), len(body))
	d := &decoder{scanner: scanner{s: text}, limits: limits, reranking: reranking, req: Request{body: text}}
	if err := d.object(d.field); err != nil {
		return nil, err
	}
	if d.peek(); d.i != len(d.s) {
		return nil, d.syntax("more data after the object: %s", d.next())
	}
	for _, f := range []struct {
		bit  uint
		name string
	}{{seenQuery, "query"}, {seenPassages, "passages"}} {
		if d.seen&f.bit == 0 {
			return nil, &DecodeError{Path: f.name, Msg: "missing", Code: CodeInvalid}
		}
	}
	return &d.req, nil
}

func bodyTooLarge(limit int64) error {
	return &DecodeError{Msg: fmt.Sprintf("longer than the limit of %d bytes", limit), Code: CodeTooLarge}
}

const (
	seenModel = 1 << iota
	seenQuery
	seenPassages
	seenTruncate
	seenTopK
)

type decoder struct {
	scanner
	limits    Limits
	reranking bool // top_k is known
	seen      uint
	total     int // bytes of all passages so far
	req       Request
}

// field reads the value of one key of the request.
func (d *decoder) field(key string) error {
	var bit uint
	var read func() error
	switch key {
	case "model":
		bit, read = seenModel, d.model
	case "query":
		bit, read = seenQuery, d.query
	case "passages":
		bit, read = seenPassages, d.passages
	case "truncate":
		bit, read = seenTruncate, d.truncate
	case "top_k":
		if !d.reranking {
			return &DecodeError{Path: key, Msg: "not supported by this route, which returns every passage; cut the answer yourself", Code: CodeUnsupported}
		}
		bit, read = seenTopK, d.topK
	default:
		return unknownField(key, "model, query, passages, truncate")
	}
	if d.seen&bit != 0 {
		return duplicate(key)
	}
	d.seen |= bit
	return under(key, read())
}

func unknownField(key, known string) error {
	return &DecodeError{Path: strings.Clone(clip(key)), Msg: fmt.Sprintf("unknown field %q, want one of: %s", clip(key), known), Code: CodeUnsupported}
}

func duplicate(key string) error {
	return &DecodeError{Path: key, Msg: fmt.Sprintf("duplicate field %q", key), Code: CodeInvalid}
}

func (d *decoder) model() (err error) {
	if d.req.Model, err = d.text(); err == nil && d.req.Model == "" {
		return &DecodeError{Msg: "want the name of a model, got an empty string", Code: CodeInvalid}
	}
	return err
}

func (d *decoder) query() (err error) {
	d.req.Query, err = d.textObject(d.limits.QueryBytes)
	return err
}

func (d *decoder) truncate() error {
	s, err := d.text()
	if err != nil {
		return err
	}
	d.req.Truncate = Truncate(s)
	if d.req.Truncate != TruncateNone && d.req.Truncate != TruncateEnd {
		return &DecodeError{Msg: fmt.Sprintf("want NONE or END, got %q", clip(s)), Code: CodeInvalid}
	}
	return nil
}

func (d *decoder) topK() (err error) {
	d.req.TopK, err = d.whole()
	return err
}

func (d *decoder) passages() error {
	err := d.array(d.passage)
	if err == nil && len(d.req.Passages) == 0 {
		return &DecodeError{Msg: "want at least one passage, got an empty array", Code: CodeInvalid}
	}
	return err
}

func (d *decoder) passage(i int) error {
	if i == d.limits.Passages {
		return &DecodeError{Msg: fmt.Sprintf("want at most %d passages, got more", d.limits.Passages), Code: CodeInvalid}
	}
	start := d.i
	s, err := d.textObject(d.limits.PassageBytes)
	if err != nil {
		return under("["+strconv.Itoa(i)+"]", err)
	}
	if d.total += len(s); d.total > d.limits.PassagesBytes {
		return &DecodeError{Msg: fmt.Sprintf("all passages together are longer than the limit of %d bytes", d.limits.PassagesBytes), Code: CodeTooLong}
	}
	if i == 0 { // guess that the others are as long
		d.req.Passages = make([]string, 0, min(d.limits.Passages, 1+(len(d.s)-d.i)/(d.i-start)))
	}
	d.req.Passages = append(d.req.Passages, s)
	return nil
}

// textObject reads {"text": "..."} with a text that is not blank and not longer than limit.
func (d *decoder) textObject(limit int) (text string, err error) {
	seen := false
	err = d.object(func(key string) error {
		if key != "text" {
			return unknownField(key, "text")
		}
		if seen {
			return duplicate(key)
		}
		seen = true
		s, err := d.text()
		text = s
		return under(key, err)
	})
	switch {
	case err != nil:
		return "", err
	case !seen:
		return "", &DecodeError{Path: "text", Msg: "missing", Code: CodeInvalid}
	case strings.TrimSpace(text) == "":
		return "", &DecodeError{Path: "text", Msg: "want text, got none", Code: CodeInvalid}
	case len(text) > limit:
		return "", &DecodeError{Path: "text", Msg: fmt.Sprintf("%d bytes long, the limit is %d", len(text), limit), Code: CodeTooLong}
	}
	return text, nil
}
