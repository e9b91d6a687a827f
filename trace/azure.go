package trace

import (
	"fmt"
	"io"
	"time"
)

// AzureReader reads the Azure LLM inference traces (Azure/AzurePublicDataset): CSV with the columns TIMESTAMP (wall
// time such as 2023-11-16 18:15:46.6805900, with or without a zone, every digit kept to the nanosecond), ContextTokens
// and GeneratedTokens. Offsets count from the first good row, whose wall time is [AzureReader.Base]; a row before that
// is refused, since the published files are in order. It is not safe for concurrent use.
type AzureReader struct {
	tableReader
	base time.Time
}

// NewAzureReader returns a reader of r; name is used in positions.
func NewAzureReader(r io.Reader, name string) *AzureReader {
	a := new(AzureReader)
	a.t = table{lines: newLineReader(r, name, MaxLine), wanted: []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}}
	a.parse = a.row
	return a
}

// Base returns the wall time from which offsets count, the zero time before the first good row.
func (a *AzureReader) Base() time.Time { return a.base }

// azureLayouts are the forms of TIMESTAMP; time.Parse takes any number of fraction digits behind the seconds.
var azureLayouts = [...]string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00"}

func (a *AzureReader) row() (*Request, *SyntaxError) {
	at, bad := a.time()
	if bad != nil {
		return nil, bad
	}
	input, bad := a.t.tokens("ContextTokens", 1)
	if bad != nil {
		return nil, bad
	}
	output, bad := a.t.tokens("GeneratedTokens", 0)
	if bad != nil {
		return nil, bad
	}
	if a.base.IsZero() {
		a.base = at
	}
	if at.Before(a.base) {
		return nil, a.t.lines.bad(fmt.Sprintf("TIMESTAMP %s is before that of the first row; want rows in order", a.t.field("TIMESTAMP")))
	}
	if at.Sub(a.base) == maxDuration {
		return nil, a.t.lines.bad("TIMESTAMP is more than 292 years after that of the first row")
	}
	return &Request{Offset: at.Sub(a.base), InputTokens: input, OutputTokens: output, Failed: output == 0}, nil
}

// maxDuration is what time.Sub returns for everything longer.
const maxDuration = time.Duration(1<<63 - 1)

func (a *AzureReader) time() (time.Time, *SyntaxError) {
	text := string(a.t.field("TIMESTAMP"))
	for _, layout := range azureLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, a.t.lines.bad(fmt.Sprintf("TIMESTAMP %q is no time; want the form 2023-11-16 18:15:46.6805900", text))
}
