package aiperf

import (
	"fmt"
	"time"
)

// Phase tells warm-up from measured requests. Only this field does: sequence numbers restart after the warm-up and
// warm-up requests look like measured ones.
type Phase string

// The phases, as metadata.benchmark_phase names them.
const (
	Warmup   Phase = "warmup"
	Measured Phase = "profiling"
)

// Meta is the metadata object of a row, the same in both row exports. Instants are Unix nanoseconds of the client's
// wall clock, 0 when absent; see Class and Shifted for which of them can be trusted.
type Meta struct {
	RequestID          string // metadata.x_request_id, the X-Request-ID header of the request; "" when null or absent
	ConversationID     string // the session_id of the input row
	CorrelationID      string
	Phase              Phase // "" when absent
	PhaseIndex         int64
	SessionNum         int64 // order of the credits of one phase
	TurnIndex          int64
	CreditIssuedNS     int64
	RequestStartNS     int64
	RequestAckNS       int64
	RequestEndNS       int64
	CancellationTimeNS int64
	WorkerID           string
	WasCancelled       bool
	ContextOverflow    bool // the client skipped the request: it did not fit a context limit
	// Missing names the fields that a join or a latency needs and that this row does not carry, in the order of the
	// format's description.
	Missing []string
}

// Duration is request_end_ns - request_start_ns. It is false when either is missing or the end lies before the start,
// as after a step of the wall clock. It is exactly 0 for an answer other than 2xx, which is no measurement.
func (m *Meta) Duration() (time.Duration, bool) {
	if m.RequestStartNS <= 0 || m.RequestEndNS <= 0 || m.RequestEndNS < m.RequestStartNS {
		return 0, false
	}
	return time.Duration(m.RequestEndNS - m.RequestStartNS), true
}

// metaDecoder reads metadata objects. Strings that repeat from row to row are kept once.
type metaDecoder struct {
	known map[string]string
	m     *Meta
	c     *cursor
	seen  uint32
}

// keep returns b as a string, shared between rows while there are few distinct ones.
func (d *metaDecoder) keep(b []byte) string {
	if s, ok := d.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if d.known == nil {
		d.known = make(map[string]string)
	}
	if len(d.known) < 1024 {
		d.known[s] = s
	}
	return s
}

func (d *metaDecoder) decode(c *cursor, m *Meta) error {
	d.c, d.m, d.seen = c, m, 0
	if err := c.object(d.field); err != nil {
		return err
	}
	m.Missing = missingFields(m)
	return nil
}

func missingFields(m *Meta) []string {
	var out []string
	for _, f := range [...]struct {
		name string
		ok   bool
	}{
		{"x_request_id", m.RequestID != ""},
		{"conversation_id", m.ConversationID != ""},
		{"credit_issued_ns", m.CreditIssuedNS > 0},
		{"request_start_ns", m.RequestStartNS > 0},
		{"request_end_ns", m.RequestEndNS > 0},
		{"benchmark_phase", m.Phase != ""},
	} {
		if !f.ok {
			out = append(out, f.name)
		}
	}
	return out
}

// field reads one member. A null is the same as an absent member; a member of the wrong kind, or one that stands
// twice, is an error, because the row then says nothing certain.
func (d *metaDecoder) field(key []byte) error {
	c, m := d.c, d.m
	var err error
	switch string(key) {
	case "x_request_id":
		m.RequestID, err = d.text(0, false)
	case "conversation_id":
		m.ConversationID, err = d.text(1, false)
	case "x_correlation_id":
		m.CorrelationID, err = d.text(2, false)
	case "benchmark_phase":
		var p string
		p, err = d.text(3, true)
		m.Phase = Phase(p)
		if err == nil && p != "" && m.Phase != Warmup && m.Phase != Measured {
			err = fmt.Errorf("%q, want %s or %s", p, Warmup, Measured)
		}
	case "worker_id":
		m.WorkerID, err = d.text(4, true)
	case "credit_issued_ns":
		err = d.count(5, &m.CreditIssuedNS)
	case "request_start_ns":
		err = d.count(6, &m.RequestStartNS)
	case "request_ack_ns":
		err = d.count(7, &m.RequestAckNS)
	case "request_end_ns":
		err = d.count(8, &m.RequestEndNS)
	case "cancellation_time_ns":
		err = d.count(9, &m.CancellationTimeNS)
	case "session_num":
		err = d.count(10, &m.SessionNum)
	case "turn_index":
		err = d.count(11, &m.TurnIndex)
	case "phase_index":
		err = d.count(12, &m.PhaseIndex)
	case "was_cancelled":
		err = d.flag(13, &m.WasCancelled)
	case "context_overflow_skip":
		err = d.flag(14, &m.ContextOverflow)
	default:
		return c.skip()
	}
	if err != nil {
		return fmt.Errorf("metadata.%s: %w", key, err)
	}
	return nil
}

func (d *metaDecoder) once(bit int) error {
	if d.seen&(1<<bit) != 0 {
		return fmt.Errorf("stands twice")
	}
	d.seen |= 1 << bit
	return nil
}

func (d *metaDecoder) text(bit int, shared bool) (string, error) {
	if err := d.once(bit); err != nil || d.c.null() {
		return "", err
	}
	b, err := d.c.text()
	if err != nil {
		return "", err
	}
	if shared {
		return d.keep(b), nil
	}
	return string(b), nil
}

func (d *metaDecoder) count(bit int, to *int64) error {
	if err := d.once(bit); err != nil || d.c.null() {
		return err
	}
	v, err := d.c.int()
	if err == nil && v < 0 {
		err = fmt.Errorf("is negative: %d", v)
	}
	*to = v
	return err
}

func (d *metaDecoder) flag(bit int, to *bool) error {
	if err := d.once(bit); err != nil || d.c.null() {
		return err
	}
	v, err := d.c.bool()
	*to = v
	return err
}
