package aiperf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// SingleTurn is one row of a single_turn data set, the form in which ranking and video requests are given to AIPerf.
type SingleTurn struct {
	SessionID string         `json:"session_id"`          // the request's identity in the workload; comes back as conversation_id
	Timestamp *float64       `json:"timestamp,omitempty"` // ms, used with Spec.FixedSchedule
	Text      string         `json:"text,omitempty"`      // video: the prompt
	Texts     []NamedTexts   `json:"texts,omitempty"`     // ranking: query and passages
	Extra     map[string]any `json:"extra,omitempty"`     // merged into the body last; wins over everything
}

// NamedTexts is one named list of a row.
type NamedTexts struct {
	Name     string   `json:"name"`
	Contents []string `json:"contents"`
}

// WriteSingleTurn rewrites a prepared workload, {"timestamp","session_id","payload"} a line, into single_turn rows,
// so that both clients send the same requests. Payloads are bodies of /v1/ranking (query, passages, and more) or of
// /v1/videos (prompt, and more); "model" is left to the command line, everything else goes into the row. With timed
// the timestamps are kept. It returns the session ids in file order.
func WriteSingleTurn(dst io.Writer, src io.Reader, name string, w Workload, timed bool) ([]string, error) {
	lines := newLineReader(src)
	var ids []string
	for {
		t, ok := lines.next()
		if !ok {
			break
		}
		row, err := singleTurn(t.b, w, timed)
		if err == nil && t.tooLong {
			err = fmt.Errorf("longer than %d bytes", MaxLine)
		}
		var out bytes.Buffer
		if err == nil {
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			err = enc.Encode(row)
		}
		if err != nil {
			return nil, &SyntaxError{Pos: Pos{name, lines.line}, Msg: err.Error(), Truncated: t.open}
		}
		if _, err := dst.Write(out.Bytes()); err != nil {
			return nil, fmt.Errorf("write single_turn rows: %w", err)
		}
		ids = append(ids, row.SessionID)
	}
	if err := lines.failure(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return ids, nil
}

func singleTurn(line []byte, w Workload, timed bool) (SingleTurn, error) {
	var in struct {
		Timestamp *float64       `json:"timestamp"`
		SessionID string         `json:"session_id"`
		Payload   map[string]any `json:"payload"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return SingleTurn{}, err
	}
	row := SingleTurn{SessionID: in.SessionID, Extra: in.Payload}
	switch {
	case in.SessionID == "":
		return row, fmt.Errorf("session_id is missing")
	case in.Payload == nil:
		return row, fmt.Errorf("payload is missing")
	case timed && in.Timestamp == nil:
		return row, fmt.Errorf("timestamp is missing")
	case timed:
		row.Timestamp = in.Timestamp
	}
	var err error
	if w == Ranking {
		row.Texts, err = rankingTexts(in.Payload)
	} else {
		prompt, ok := in.Payload["prompt"].(string)
		if row.Text = prompt; !ok || prompt == "" {
			err = fmt.Errorf("payload.prompt is missing")
		}
	}
	for _, taken := range []string{"model", "prompt", "query", "passages"} {
		delete(in.Payload, taken)
	}
	return row, err
}

func rankingTexts(body map[string]any) ([]NamedTexts, error) {
	query, ok := textOf(body["query"])
	if !ok {
		return nil, fmt.Errorf("payload.query.text is missing")
	}
	list, ok := body["passages"].([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("payload.passages is missing or empty")
	}
	passages := make([]string, len(list))
	for i, p := range list {
		if passages[i], ok = textOf(p); !ok {
			return nil, fmt.Errorf("payload.passages[%d].text is missing", i)
		}
	}
	return []NamedTexts{{"query", []string{query}}, {"passages", passages}}, nil
}

func textOf(v any) (string, bool) {
	m, _ := v.(map[string]any)
	s, ok := m["text"].(string)
	return s, ok
}

// Offered returns how often each conversation of the input file is sent in the measured phase, given the file's
// session ids in order: the set against which rows are missing. With a schedule every row is sent once. Otherwise the
// client walks round the file from where the warm-up, which takes rows from the same walk, has left off.
func (s *Spec) Offered(ids []string) map[string]int {
	out := make(map[string]int, len(ids))
	if s.Workload == TextTrace || s.FixedSchedule {
		for _, id := range ids {
			out[id]++
		}
		return out
	}
	for i := range s.Requests {
		if len(ids) > 0 {
			out[ids[(s.Warmup+i)%len(ids)]]++
		}
	}
	return out
}
