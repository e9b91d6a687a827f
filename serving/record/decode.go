package record

import (
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/trtmc-go/trtmc/internal/jsonscan"
)

// decoder reads records from lines into one place. Its tables of fields follow the order of the struct's, in which
// lines are written.
type decoder struct {
	scanner jsonscan.Scanner
	fields  *jsonscan.Object
	room    recordRoom
}

// recordRoom is a record and what its pointers point to.
type recordRoom struct {
	Record
	text    Text
	ranking Ranking
	video   Video
}

// decode returns the record of a line, which is overwritten by the next call, or what is wrong with the line. Borrow lets
// the record's texts be parts of the line.
func (d *decoder) decode(line []byte, borrow bool) (*Record, string) {
	if d.fields == nil {
		d.fields = recordFields(&d.room)
	}
	if !utf8.Valid(line) {
		return nil, "not a record: invalid UTF-8"
	}
	r := &d.room.Record
	*r = Record{Lane: -1}
	d.scanner.Borrow = borrow
	d.scanner.Reset(line)
	found := d.fields.Scan(&d.scanner)
	switch err := d.scanner.Err(); {
	case err != nil:
		return nil, "not a record: " + err.Error()
	case !found:
		return nil, "not a record: null"
	case !d.scanner.AtEnd():
		return nil, "not a record: text after the object; want one JSON object a line"
	case r.Schema < 1 || r.Schema > Schema:
		return nil, fmt.Sprintf("schema %d, this reader knows 1 to %d", r.Schema, Schema)
	case r.RequestID == "":
		return nil, "record without request_id"
	case r.Outcome != Completed && r.Outcome != Rejected && r.Outcome != Failed:
		return nil, fmt.Sprintf("outcome %q, want completed, rejected or failed", r.Outcome)
	}
	return r, ""
}

// clone returns a copy that shares nothing with r that a decoder overwrites.
func (r *Record) clone() *Record {
	c := *r
	c.Settings = maps.Clone(r.Settings)
	if c.Text = clone(r.Text); c.Text != nil {
		t := c.Text
		t.PromptTokens, t.CompletionTokens, t.MaxTokens = clone(t.PromptTokens), clone(t.CompletionTokens), clone(t.MaxTokens)
	}
	if c.Ranking = clone(r.Ranking); c.Ranking != nil {
		c.Ranking.Tokens = clone(c.Ranking.Tokens)
	}
	if c.Video = clone(r.Video); c.Video != nil {
		c.Video.Steps, c.Video.Seed = clone(c.Video.Steps), clone(c.Video.Seed)
	}
	return &c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
