package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// appendRecord appends r as one line. The bytes are those of encoding/json without HTML escaping; writing them by
// hand costs a fraction of it, and a test holds the two equal. On an error dst is returned as it came.
func appendRecord(dst []byte, r *Record) ([]byte, error) {
	o := object{buf: append(dst, '{')}
	o.int("schema", int64(r.Schema))
	o.str("request_id", r.RequestID)
	o.str("request_id_source", r.RequestIDSource)
	o.str("route", r.Route)
	o.optStr("model", r.Model)
	o.optStr("runtime", r.Runtime)
	o.bool("reference", r.Reference)
	o.int("lane", int64(r.Lane))
	o.bool("streaming", r.Streaming)
	o.str("outcome", string(r.Outcome))
	o.optStr("reason", string(r.Reason))
	o.str("stage", string(r.Stage))
	o.int("status", int64(r.Status))
	o.optStr("error", r.Error)
	o.times(r)
	o.int("bytes_in", r.BytesIn)
	o.int("bytes_out", r.BytesOut)
	o.settings(r.Settings)
	o.optStr("task", r.Task)
	if r.Text != nil {
		o.text(r.Text)
	}
	if r.Ranking != nil {
		o.value("ranking", r.Ranking)
	}
	if r.Video != nil {
		o.value("video", r.Video)
	}
	if o.err != nil {
		return dst, fmt.Errorf("encode record %q: %w", r.RequestID, o.err)
	}
	return append(o.buf, '}', '\n'), nil
}

// object appends the members of a JSON object. The first error stays.
type object struct {
	buf []byte
	err error
}

func (o *object) times(r *Record) {
	o.str("clock", r.Clock)
	o.int("wall_base_unix_ns", r.WallBaseUnixNS)
	o.int("arrived_ns", r.ArrivedNS)
	o.optInt("enqueued_ns", r.EnqueuedNS)
	o.optInt("admitted_ns", r.AdmittedNS)
	o.optInt("task_call_start_ns", r.TaskCallStartNS)
	o.optInt("task_call_end_ns", r.TaskCallEndNS)
	o.optInt("first_byte_ns", r.FirstByteNS)
	o.optInt("last_byte_ns", r.LastByteNS)
	o.optInt("queue_ns", r.QueueNS)
	o.optInt("public_task_call_wall_ns", r.TaskCallNS)
	o.int("handling_ns", r.HandlingNS)
	o.int("queue_depth", int64(r.QueueDepth))
}

func (o *object) text(t *Text) {
	o.key("text")
	o.buf = append(o.buf, '{')
	o.int("prompt_bytes", int64(t.PromptBytes))
	o.int("prompt_words", int64(t.PromptWords))
	o.ptr("prompt_tokens", t.PromptTokens)
	o.ptr("completion_tokens", t.CompletionTokens)
	o.str("token_source", string(t.TokenSource))
	o.ptr("max_tokens", t.MaxTokens)
	o.optStr("finish_reason", t.FinishReason)
	o.optInt("deltas", int64(t.Deltas))
	o.optFloat("setup_ms", t.SetupMS)
	o.optFloat("prefill_ms", t.PrefillMS)
	o.optFloat("decode_ms", t.DecodeMS)
	o.bool("forced_length", t.ForcedLength)
	o.buf = append(o.buf, '}')
}

func (o *object) settings(m map[string]any) {
	if len(m) == 0 {
		return
	}
	o.key("settings")
	o.buf = append(o.buf, '{')
	for _, k := range slices.Sorted(maps.Keys(m)) {
		switch v := m[k].(type) {
		case int64:
			o.comma()
			o.quote(k)
			o.buf = append(o.buf, ':')
			o.buf = strconv.AppendInt(o.buf, v, 10)
		default:
			o.comma()
			o.quote(k)
			o.buf = append(o.buf, ':')
			o.marshal(v)
		}
	}
	o.buf = append(o.buf, '}')
}

func (o *object) comma() {
	if o.buf[len(o.buf)-1] != '{' {
		o.buf = append(o.buf, ',')
	}
}

func (o *object) key(name string) {
	o.comma()
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, '"', ':')
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.buf = strconv.AppendInt(o.buf, v, 10)
}

func (o *object) optInt(name string, v int64) {
	if v != 0 {
		o.int(name, v)
	}
}

func (o *object) ptr(name string, v *int64) {
	if v != nil {
		o.int(name, *v)
	}
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.buf = strconv.AppendBool(o.buf, v)
}

func (o *object) str(name, v string) {
	o.key(name)
	o.quote(v)
}

func (o *object) optStr(name, v string) {
	if v != "" {
		o.str(name, v)
	}
}

func (o *object) optFloat(name string, v float64) {
	if v == 0 {
		return
	}
	// Milliseconds of a phase: encoding/json writes these magnitudes in plain digits too.
	if a := math.Abs(v); a < 1e-6 || a >= 1e21 || math.IsNaN(v) {
		o.value(name, v)
		return
	}
	o.key(name)
	o.buf = strconv.AppendFloat(o.buf, v, 'f', -1, 64)
}

func (o *object) value(name string, v any) {
	o.key(name)
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
