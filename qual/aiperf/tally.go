package aiperf

import (
	"slices"
	"time"
)

// Counts is how many rows of one phase fall into each class. Refused is a part of HTTPError.
type Counts struct {
	Rows       int `json:"rows"`
	Success    int `json:"success"`
	HTTPError  int `json:"http_error"`
	Refused    int `json:"refused"`
	Failed     int `json:"failed"`
	Cancelled  int `json:"cancelled"`
	Skipped    int `json:"skipped"`
	Unmeasured int `json:"unmeasured"`
}

func (c *Counts) add(class Class, refused bool) {
	c.Rows++
	switch class {
	case Success:
		c.Success++
	case HTTPError:
		c.HTTPError++
		if refused {
			c.Refused++
		}
	case Failed:
		c.Failed++
	case Cancelled:
		c.Cancelled++
	case Skipped:
		c.Skipped++
	case Unmeasured:
		c.Unmeasured++
	}
}

// Unsuccessful is the number of rows that are not a success.
func (c Counts) Unsuccessful() int { return c.Rows - c.Success }

// Tally is what one pass over an export of rows finds. Lists of ids are in file order.
type Tally struct {
	Warmup   Counts
	Measured Counts
	NoPhase  Counts // rows that do not say to which phase they belong; in neither of the others

	Unknown   int            // lines that are no requests
	Bad       []*SyntaxError // every line that could not be read
	NoID      []Pos          // rows without a request id: never joined to anything, and no duplicates of one another
	Duplicate []string       // request ids that stand in more than one row, each once
	Partial   []string       // request ids (or positions) of rows that lack another field that is relied on

	ZeroDuration []string // answers other than 2xx: their latency is unknown to the client
	EarlyEnd     []string // failures whose end is the last event before the failure, not the failure itself
	Shifted      []string // rows whose start is the request's end
	Backwards    []string // rows whose end lies before their start
	LateStart    []string // rows that left more than LateStart after their credit

	conversations map[string]int // measured rows by conversation
	ids           map[string]bool
	latencies     []time.Duration
}

// LateStart is the time between a credit and the start of its request beyond which the credit's punctuality says
// nothing about the request.
const LateStart = 50 * time.Millisecond

// Rows is the number of request rows of all phases.
func (t *Tally) Rows() int { return t.Warmup.Rows + t.Measured.Rows + t.NoPhase.Rows }

// Latencies returns the latencies of measured successes in ascending order. It is a part of the measured rows:
// publish it with its length beside Measured.Rows and Measured.Unsuccessful.
func (t *Tally) Latencies() []time.Duration {
	out := slices.Clone(t.latencies)
	slices.Sort(out)
	return out
}

// phase returns the counts a row belongs to.
func (t *Tally) phase(m *Meta) *Counts {
	switch m.Phase {
	case Warmup:
		return &t.Warmup
	case Measured:
		return &t.Measured
	}
	return &t.NoPhase
}

// identify notes a row's identity and what it lacks; it returns the name under which findings list the row.
func (t *Tally) identify(pos Pos, m *Meta) string {
	name := m.RequestID
	if name == "" {
		t.NoID = append(t.NoID, pos)
		name = pos.String()
	} else if dup, seen := t.ids[name]; !seen {
		if t.ids == nil {
			t.ids = make(map[string]bool)
		}
		t.ids[name] = false
	} else if !dup {
		t.ids[name] = true
		t.Duplicate = append(t.Duplicate, name)
	}
	if lacking := len(m.Missing); lacking > 1 || lacking == 1 && m.RequestID != "" {
		t.Partial = append(t.Partial, name)
	}
	if m.Phase == Measured && m.ConversationID != "" {
		if t.conversations == nil {
			t.conversations = make(map[string]int)
		}
		t.conversations[m.ConversationID]++
	}
	return name
}

// row counts a row of profile_export.jsonl. video tells that the whole run was of video jobs.
func (t *Tally) row(r *Row, video bool) {
	name, class := t.identify(r.Pos, &r.Meta), r.Class()
	t.phase(&r.Meta).add(class, r.Refused())
	d, ok := r.Duration()
	shifted := r.Shifted() || video
	switch {
	case !ok && r.RequestStartNS > 0 && r.RequestEndNS > 0:
		t.Backwards = append(t.Backwards, name)
	case class == HTTPError && d == 0:
		t.ZeroDuration = append(t.ZeroDuration, name)
	case class == Failed && r.endsEarly(video):
		t.EarlyEnd = append(t.EarlyEnd, name)
	}
	if shifted {
		t.Shifted = append(t.Shifted, name)
	}
	if !shifted && r.CreditIssuedNS > 0 && r.RequestStartNS-r.CreditIssuedNS > int64(LateStart) {
		t.LateStart = append(t.LateStart, name)
	}
	if l, ok := r.Latency(); ok && r.Phase == Measured {
		t.latencies = append(t.latencies, l)
	}
}

// endsEarly reports whether a failed row's end is the last event before the failure. It is not for a connection that
// failed before the answer began, nor for an answer that came whole and held nothing usable.
func (r *Row) endsEarly(video bool) bool {
	return video || r.Video() || r.RequestAckNS > 0 && r.Error.Type != "InvalidInferenceResultError"
}

// other counts a line that is no row.
func (t *Tally) other(e Entry) {
	switch e := e.(type) {
	case *Unknown:
		t.Unknown++
	case *SyntaxError:
		t.Bad = append(t.Bad, e)
	}
}
