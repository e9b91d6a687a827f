package ranking

import (
	"bytes"
	"encoding/json"
)

// Truncate says what to do with a passage that is too long for the model.
type Truncate string

// The values of Truncate. TruncateAbsent means the same as TruncateNone.
const (
	TruncateAbsent Truncate = ""
	TruncateNone   Truncate = "NONE" // refuse it
	TruncateEnd    Truncate = "END"  // cut its end
)

// Request is a ranking request. One that [Decode] returned holds views of the body.
type Request struct {
	Model    string // empty when the body names none
	Query    string
	Passages []string
	Truncate Truncate
	TopK     int // 0 when absent; only [DecodeReranking] sets it

	body string // what the texts are views of, when the request was decoded
}

// Ranking is one entry of an answer: the place of a passage in the request and its score.
type Ranking struct {
	Index int     `json:"index"`
	Logit float32 `json:"logit"`
}

// Response is the answer to a ranking request.
type Response struct {
	Rankings []Ranking `json:"rankings"`
}

// Limits bound what one request may hold. A zero field means its default.
type Limits struct {
	BodyBytes     int64 // the body as sent; default 4 MiB
	Passages      int   // number of passages; default 512
	QueryBytes    int   // text of the query, decoded; default 64 KiB
	PassageBytes  int   // text of one passage, decoded; default 64 KiB
	PassagesBytes int   // text of all passages together, decoded; default 4 MiB
}

func (l Limits) withDefaults() Limits {
	if l.BodyBytes <= 0 {
		l.BodyBytes = 4 << 20
	}
	if l.Passages <= 0 {
		l.Passages = 512
	}
	if l.QueryBytes <= 0 {
		l.QueryBytes = 64 << 10
	}
	if l.PassageBytes <= 0 {
		l.PassageBytes = 64 << 10
	}
	if l.PassagesBytes <= 0 {
		l.PassagesBytes = 4 << 20
	}
	return l
}

type wireText struct {
	Text string `json:"text"`
}

type wireRequest struct {
	Model    string     `json:"model,omitempty"`
	Query    wireText   `json:"query"`
	Passages []wireText `json:"passages"`
	Truncate Truncate   `json:"truncate,omitempty"`
	TopK     int        `json:"top_k,omitempty"`
}

// MarshalJSON returns the body that a client sends, with the keys in the order model, query, passages, truncate, top_k.
func (r Request) MarshalJSON() ([]byte, error) {
	w := wireRequest{Model: r.Model, Query: wireText{r.Query}, Truncate: r.Truncate, TopK: r.TopK}
	w.Passages = make([]wireText, len(r.Passages))
	for i, p := range r.Passages {
		w.Passages[i].Text = p
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
