package native

import (
	"slices"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// turn adds up the deltas of a streamed answer, so that they can be held against the final result.
type turn struct {
	parts  []turnPart
	tokens []int32
}

type turnPart struct {
	kind   task.PartKind
	text   []byte // text or reasoning; arguments of a tool call
	name   []byte
	callID string
	ended  bool
	state  uint32
}

// add takes one delta. Parts appear in order; a part keeps its kind and takes nothing after its end.
func (t *turn) add(ev cabi.ConversationEvent) error {
	if ev.Native == nativeTokens {
		t.tokens = append(t.tokens, ev.TokenIDs...)
		return nil
	}
	kind := partKind(ev.Native)
	if ev.PartIndex > uint64(len(t.parts)) {
		return mismatch("a delta of part %d came when %d parts had begun", ev.PartIndex, len(t.parts))
	}
	if ev.PartIndex == uint64(len(t.parts)) {
		t.parts = append(t.parts, turnPart{kind: kind})
	}
	p := &t.parts[ev.PartIndex]
	if p.kind != kind || p.ended {
		return mismatch("part %d is of kind %d (ended: %t) and got a delta of kind %d", ev.PartIndex, p.kind, p.ended, kind)
	}
	switch ev.Native {
	case nativeToolEnd:
		p.ended, p.state = true, ev.State
		return nil
	case nativeToolDelta:
		if ev.CallID != "" && p.callID != "" && p.callID != ev.CallID {
			return mismatch("the call id of part %d changed from %q to %q", ev.PartIndex, p.callID, ev.CallID)
		}
		p.callID = max(p.callID, ev.CallID)
		p.name = append(p.name, ev.Name...)
		p.text = append(p.text, ev.Arguments...)
		return nil
	}
	p.text = append(p.text, ev.Text...)
	return nil
}

// same wants the final result to be what the deltas add up to.
func (t *turn) same(final cabi.ConversationResult) error {
	if len(t.parts) != len(final.Parts) {
		return mismatch("delta mismatch: the deltas make %d parts and the final result has %d", len(t.parts), len(final.Parts))
	}
	for i, p := range t.parts {
		want := final.Parts[i]
		text := want.Text
		if p.kind == task.PartToolCall {
			text = want.Arguments
		}
		if uint32(p.kind) != want.Kind || string(p.text) != text || string(p.name) != want.Name || p.callID != want.CallID || p.state != want.State {
			return mismatch("delta mismatch: part %d of the final result is not what its deltas add up to", i)
		}
	}
	if !slices.Equal(t.tokens, final.TokenIDs) {
		return mismatch("delta mismatch: the deltas hold %d token ids and the final result %d, or others", len(t.tokens), len(final.TokenIDs))
	}
	return nil
}
