package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// bodies makes request bodies of one kind.
type bodies struct {
	opts  PrepareOptions
	path  string
	model []byte // as JSON
	extra map[string]json.RawMessage
}

// ownMembers are the members of a body that are not extra.
var ownMembers = []string{"model", "prompt", "messages", "tools", "stream", "stream_options", "max_tokens", "max_completion_tokens", "ignore_eos", "min_tokens"}

func newBodies(opts PrepareOptions) (bodies, error) {
	b := bodies{opts: opts, path: "/v1/completions", extra: map[string]json.RawMessage{}}
	switch opts.Endpoint {
	case EndpointCompletions:
	case EndpointChat:
		b.path = "/v1/chat/completions"
	default:
		return b, fmt.Errorf("endpoint %q: want completions or chat", opts.Endpoint)
	}
	if opts.Model == "" {
		return b, errors.New("model is empty; want the name under which the bundle is served")
	}
	var err error
	if b.model, err = json.Marshal(opts.Model); err != nil {
		return b, fmt.Errorf("model: %w", err)
	}
	for name, value := range opts.Extra {
		if slices.Contains(ownMembers, name) {
			return b, fmt.Errorf("extra member %q has an option of its own", name)
		}
		if b.extra[name], err = json.Marshal(value); err != nil {
			return b, fmt.Errorf("extra member %q: %w", name, err)
		}
	}
	return b, nil
}

// append appends the body for a prompt, which is JSON: a string, or the messages of a literal row.
func (b *bodies) append(out []byte, req *Request, prompt []byte, output int) ([]byte, error) {
	extra, err := b.extraFor(req)
	if err != nil {
		return nil, err
	}
	out = append(append(out, `{"model":`...), b.model...)
	limit := `,"max_tokens":`
	switch {
	case b.opts.Endpoint == EndpointCompletions && (req.Kind == LiteralMessages || len(req.Tools) > 0):
		return nil, errors.New("messages and tools need the endpoint chat")
	case b.opts.Endpoint == EndpointCompletions:
		out = append(append(out, `,"prompt":`...), prompt...)
	case req.Kind == LiteralMessages:
		out = append(append(out, `,"messages":`...), prompt...)
		limit = `,"max_completion_tokens":`
	default:
		out = append(append(out, `,"messages":[{"role":"user","content":`...), prompt...)
		out = append(out, `}]`...)
		limit = `,"max_completion_tokens":`
	}
	if len(req.Tools) > 0 {
		out = append(append(out, `,"tools":`...), req.Tools...)
	}
	if output > 0 {
		out = strconv.AppendInt(append(out, limit...), int64(output), 10)
		if b.opts.ForceLength.MinTokens {
			out = strconv.AppendInt(append(out, `,"min_tokens":`...), int64(output), 10)
		}
		if b.opts.ForceLength.IgnoreEOS {
			out = append(out, `,"ignore_eos":true`...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(append(out, ','), quoted...), ':'), extra[name]...)
	}
	if b.opts.Streaming {
		return append(out, `,"stream":true,"stream_options":{"include_usage":true}}`...), nil
	}
	return append(out, `,"stream":false}`...), nil
}

// extraFor returns the extra members of a row's body.
func (b *bodies) extraFor(req *Request) (map[string]json.RawMessage, error) {
	if len(req.Extra) == 0 {
		return b.extra, nil
	}
	extra := maps.Clone(b.extra)
	if err := json.Unmarshal(req.Extra, &extra); err != nil {
		return nil, fmt.Errorf("extra: %w", err)
	}
	for name, value := range extra {
		// What the options may force, a row may force too, if it does not say so twice.
		if slices.Contains(ownMembers[:len(ownMembers)-2], name) ||
			name == "ignore_eos" && b.opts.ForceLength.IgnoreEOS || name == "min_tokens" && b.opts.ForceLength.MinTokens {
			return nil, fmt.Errorf("extra member %q has a place of its own", name)
		}
		extra[name] = bytes.TrimSpace(value)
	}
	return extra, nil
}

// appendMS appends a duration in milliseconds, exact.
func appendMS(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d/time.Millisecond), 10)
	ns := d % time.Millisecond
	if ns == 0 {
		return b
	}
	b = append(b, '.')
	fraction := strconv.AppendInt(nil, int64(ns)+int64(time.Millisecond), 10)[1:]
	return append(b, bytes.TrimRight(fraction, "0")...)
}
