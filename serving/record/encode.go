package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// appendRecord appends r as one line. The bytes are those of encoding/json without HTML escaping; writing them by
// hand costs a fraction of it, and a test holds the two equal. On an error dst is returned as it came.
func appendRecord(dst []byte, r *Record) ([]byte, error) {
	o := object{buf: dst}
	o.int(`{"schema":`, int64(r.Schema))
	o.str(`,"request_id":`, r.RequestID)
	o.str(`,"request_id_source":`, r.RequestIDSource)
	o.str(`,"route":`, r.Route)
	o.optStr(`,"model":`, r.Model)
	o.optStr(`,"runtime":`, r.Runtime)
	o.bool(`,"reference":`, r.Reference)
	o.int(`,"lane":`, int64(r.Lane))
	o.bool(`,"streaming":`, r.Streaming)
	o.str(`,"outcome":`, string(r.Outcome))
	o.optStr(`,"reason":`, string(r.Reason))
	o.str(`,"stage":`, string(r.Stage))
	o.int(`,"status":`, int64(r.Status))
	o.optStr(`,"error":`, r.Error)
	o.times(r)
	o.int(`,"bytes_in":`, r.BytesIn)
	o.int(`,"bytes_out":`, r.BytesOut)
	o.settings(r.Settings)
	o.optStr(`,"task":`, r.Task)
	if r.Text != nil {
		o.text(r.Text)
	}
	if r.Ranking != nil {
		o.value(`,"ranking":`, r.Ranking)
	}
	if r.Video != nil {
		o.value(`,"video":`, r.Video)
	}
	if o.err != nil {
		return dst, fmt.Errorf("encode record %q: %w", r.RequestID, o.err)
	}
	return append(o.buf, '}', '\n'), nil
}

// object appends the members of a JSON object. Its methods take what stands before the value, such as `,"status":`,
// as one text, which is cheaper than to compose it. The first error stays.
type object struct {
	buf []byte
	err error
}

func (o *object) times(r *Record) {
	o.str(`,"clock":`, r.Clock)
	o.int(`,"wall_base_unix_ns":`, r.WallBaseUnixNS)
	o.int(`,"arrived_ns":`, r.ArrivedNS)
	o.optInt(`,"enqueued_ns":`, r.EnqueuedNS)
	o.optInt(`,"admitted_ns":`, r.AdmittedNS)
	o.optInt(`,"task_call_start_ns":`, r.TaskCallStartNS)
	o.optInt(`,"task_call_end_ns":`, r.TaskCallEndNS)
	o.optInt(`,"first_byte_ns":`, r.FirstByteNS)
	o.optInt(`,"last_byte_ns":`, r.LastByteNS)
	o.optInt(`,"queue_ns":`, r.QueueNS)
	o.optInt(`,"public_task_call_wall_ns":`, r.TaskCallNS)
	o.int(`,"handling_ns":`, r.HandlingNS)
	o.int(`,"queue_depth":`, int64(r.QueueDepth))
}

func (o *object) text(t *Text) {
	o.key(`,"text":`)
	o.int(`{"prompt_bytes":`, int64(t.PromptBytes))
	o.int(`,"prompt_words":`, int64(t.PromptWords))
	o.ptr(`,"prompt_tokens":`, t.PromptTokens)
	o.ptr(`,"completion_tokens":`, t.CompletionTokens)
	o.str(`,"token_source":`, string(t.TokenSource))
	o.ptr(`,"max_tokens":`, t.MaxTokens)
	o.optStr(`,"finish_reason":`, t.FinishReason)
	o.optInt(`,"deltas":`, int64(t.Deltas))
	o.optFloat(`,"setup_ms":`, t.SetupMS)
	o.optFloat(`,"prefill_ms":`, t.PrefillMS)
	o.optFloat(`,"decode_ms":`, t.DecodeMS)
	o.bool(`,"forced_length":`, t.ForcedLength)
	o.buf = append(o.buf, '}')
}

func (o *object) settings(m map[string]any) {
	if len(m) == 0 {
		return
	}
	var room [16]string // more settings than a request usually has
	keys := room[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	o.key(`,"settings":`)
	for i, k := range keys {
		o.buf = append(o.buf, "{,"[min(i, 1)])
		o.quote(k)
		o.buf = append(o.buf, ':')
		switch v := m[k].(type) {
		case int64:
			o.buf = strconv.AppendInt(o.buf, v, 10)
		case float64:
			o.float(v)
		case bool:
			o.buf = strconv.AppendBool(o.buf, v)
		case string:
			o.quote(v)
		default:
			o.marshal(v)
		}
	}
	o.buf = append(o.buf, '}')
}

// float leaves the magnitudes that encoding/json writes with an exponent, and what it refuses, to encoding/json.
func (o *object) float(v float64) {
	if a := math.Abs(v); v != 0 && a < 1e-6 || a >= 1e21 || math.IsNaN(v) {
		o.marshal(v)
		return
	}
	o.buf = strconv.AppendFloat(o.buf, v, 'f', -1, 64)
}

// key appends what stands before a member's value: the comma or the brace before it, its name, the colon.
func (o *object) key(lead string) { o.buf = append(o.buf, lead...) }

func (o *object) int(lead string, v int64) {
	o.key(lead)
	o.buf = strconv.AppendInt(o.buf, v, 10)
}

func (o *object) optInt(lead string, v int64) {
	if v != 0 {
		o.int(lead, v)
	}
}

func (o *object) ptr(lead string, v *int64) {
	if v != nil {
		o.int(lead, *v)
	}
}

func (o *object) bool(lead string, v bool) {
	o.key(lead)
	o.buf = strconv.AppendBool(o.buf, v)
}

func (o *object) str(lead, v string) {
	o.key(lead)
	o.quote(v)
}

func (o *object) optStr(lead, v string) {
	if v != "" {
		o.str(lead, v)
	}
}

func (o *object) optFloat(lead string, v float64) {
	if v != 0 {
		o.key(lead)
		o.float(v)
	}
}

func (o *object) value(lead string, v any) {
	o.key(lead)
	o.marshal(v)
}

// quote writes a string that needs no escapes as it is, and leaves the others to encoding/json.
func (o *object) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			o.marshal(s)
			return
		}
	}
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, s...)
	o.buf = append(o.buf, '"')
}

func (o *object) marshal(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && o.err == nil {
		o.err = err
	}
	o.buf = append(o.buf, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}
