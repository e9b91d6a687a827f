package trace

import (
	"fmt"
	"io"
	"time"
)

// BurstGPTReader reads the BurstGPT traces (HPMLL/BurstGPT): CSV with the columns Timestamp (seconds), Request tokens
// and Response tokens, found by name; Session ID is taken when it is there. A row with 0 response tokens records a
// request that failed: it is read, with Failed set, and what becomes of it is decided by [Prepare]. It is not safe for
// concurrent use.
type BurstGPTReader struct{ tableReader }

// NewBurstGPTReader returns a reader of r; name is used in positions.
func NewBurstGPTReader(r io.Reader, name string) *BurstGPTReader {
	b := new(BurstGPTReader)
	b.t = table{lines: newLineReader(r, name, MaxLine), wanted: []string{"Timestamp", "Request tokens", "Response tokens"}}
	b.parse = b.row
	return b
}

func (b *BurstGPTReader) row() (*Request, *SyntaxError) {
	exp, _ := Seconds.exponent()
	s := jsonScan{b: b.t.field("Timestamp")}
	number := s.number()
	if number == nil || s.i < len(s.b) {
		return nil, b.t.lines.bad(fmt.Sprintf("Timestamp %q is no number; want seconds", s.b))
	}
	ns, ok := decimal(number, exp)
	if !ok {
		return nil, b.t.lines.bad(fmt.Sprintf("Timestamp %s is out of range; want 0 or more seconds", number))
	}
	req := &Request{Offset: time.Duration(ns)}
	var bad *SyntaxError
	if req.InputTokens, bad = b.t.tokens("Request tokens", 1); bad != nil {
		return nil, bad
	}
	if req.OutputTokens, bad = b.t.tokens("Response tokens", 0); bad != nil {
		return nil, bad
	}
	req.Failed = req.OutputTokens == 0
	req.SessionID = string(b.t.field("Session ID"))
	return req, nil
}
