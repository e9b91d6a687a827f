package serving_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving"
	"github.com/trtmc-go/trtmc/serving/record"
)

func chatWith(s *serving.Server, messages, fields string) answer {
	return ask(s, "POST", "/v1/chat/completions", `{"model":"m","messages":`+messages+fields+`}`)
}

func TestMessagesBecomeOnePromptForAContinuation(t *testing.T) {
	var got task.TextRequest
	m := &fake{fields: textFields, text: func(_ context.Context, r task.TextRequest) (task.TextResult, error) {
		got = r
		return task.TextResult{Text: "ok"}, nil
	}}
	s, _ := newServer(t, serving.Config{Models: model(m)})
	a := chatWith(s, `[{"role":"system","content":"Be short."},{"role":"user","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}]`, "")
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "Be short.\n\nHello", got.Text)
	require.Equal(t, task.Settings{{Name: "use_chat_template", Value: task.Bool(true)}}, got.Settings)
	c := a.json(t)["choices"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"role": "assistant", "content": "ok"}, c["message"])
	require.NotContains(t, c, "delta")

	require.Equal(t, 200, chatWith(s, `[{"role":"user","content":"x"}]`, `,"use_chat_template":false`).status)
	require.Equal(t, task.Settings{{Name: "use_chat_template", Value: task.Bool(false)}}, got.Settings)
}

func TestWhatAContinuationCannotTakeIsRefusedByName(t *testing.T) {
	s, recs := newServer(t, serving.Config{Models: model(echoModel())})
	for _, c := range []struct{ messages, fields, param string }{
		{`[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, "", "messages[1].role"},
		{`[{"role":"user","content":"a"},{"role":"system","content":"b"}]`, "", "messages[1].role"},
		{`[{"role":"system","content":"a"}]`, "", "messages"},
		{`[{"role":"user","content":"a"}]`, `,"tools":[{"type":"function","function":{"name":"f"}}]`, "tools"},
		{`[]`, "", "messages"},
		{`"hi"`, "", "messages"},
		{`[{"role":"pirate","content":"a"}]`, "", "messages[0].role"},
		{`[{"role":"user"}]`, "", "messages[0].content"},
		{`[{"role":"user","content":null}]`, "", "messages[0].content"},
		{`[{"role":"user","content":"a","nick":"b"}]`, "", "messages[0].nick"},
		{`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`, "", "messages[0].content[0].type"},
		{`[{"role":"user","content":[{"type":"text"}]}]`, "", "messages[0].content[0].text"},
		{`[{"role":"user","content":[{"type":"text","text":"a","x":1}]}]`, "", "messages[0].content[0].x"},
		{`[{"role":"user","content":"a","tool_call_id":"x"}]`, "", "messages[0].tool_call_id"},
		{`[{"role":"tool","content":"a"}]`, "", "messages[0].tool_call_id"},
		{`[{"role":"user","content":"a"}]`, `,"tool_choice":"required"`, "tool_choice"},
		{`[{"role":"user","content":"a"}]`, `,"response_format":{"type":"json_object"}`, "response_format"},
		{`[{"role":"user","content":"a"}]`, `,"prompt":"x"`, "prompt"},
	} {
		a := chatWith(s, c.messages, c.fields)
		require.Equal(t, 400, a.status, c.messages)
		_, param, msg := a.fault(t)
		require.Equal(t, c.param, param, msg)
		require.Equal(t, record.Rejected, recs.one().Outcome)
	}
	_, param, _ := ask(s, "POST", "/v1/chat/completions", `{"model":"m"}`).fault(t)
	require.Equal(t, "messages", param)
}

func count(n uint64) *uint64 { return &n }

// talker answers with reasoning, text and a tool call, whole and streamed.
func talker(got *task.ConversationRequest) *fake {
	res := task.ConversationResult{
		Parts: []task.Part{
			{Kind: task.PartReasoning, Text: "hm…"},
			{Kind: task.PartText, Text: "Let me look."},
			{Kind: task.PartToolCall, Call: task.ToolCall{ID: "c1", Name: "weather", Arguments: `{"city":"Ghent"}`, State: task.ToolComplete}},
		},
		Finish: task.FinishToolCalls, Usage: task.Usage{Input: count(12), Output: count(8), Total: count(20)},
	}
	deltas := []task.ConversationDelta{
		{Kind: task.PartReasoning, Text: "hm\xe2\x80"}, {Kind: task.PartReasoning, Text: "\xa6"},
		{TokenIDs: []int32{1, 2}},
		{Kind: task.PartText, PartIndex: 1, Text: "Let me "}, {Kind: task.PartText, PartIndex: 1, Text: "look."},
		{Kind: task.PartToolCall, PartIndex: 2, Name: "wea"}, {Kind: task.PartToolCall, PartIndex: 2, CallID: "c1", Name: "ther"},
		{Kind: task.PartToolCall, PartIndex: 2, Arguments: `{"city":`}, {Kind: task.PartToolCall, PartIndex: 2, Arguments: `"Ghent"}`},
		{Kind: task.PartToolCall, PartIndex: 2, ToolEnd: true, State: task.ToolComplete},
	}
	f := echoModel()
	f.talk = func(_ context.Context, r task.ConversationRequest) (task.ConversationResult, error) {
		*got = r
		return res, nil
	}
	f.talkLive = func(_ context.Context, r task.ConversationRequest, emit func(task.ConversationDelta) error) (task.ConversationResult, error) {
		*got = r
		for _, d := range deltas {
			if err := emit(d); err != nil {
				return task.ConversationResult{}, err
			}
		}
		return res, nil
	}
	return f
}

const toolTurns = `[{"role":"developer","content":"d"},{"role":"user","content":"weather?"},
 {"role":"assistant","content":null,"reasoning_content":"r","refusal":null,"annotations":[],"tool_calls":[{"id":"c0","type":"function","function":{"name":"weather","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c0","content":"rain"}]`

const tools = `,"tools":[{"type":"function","function":{"name":"weather","description":"d","parameters":{"type":"object"},"strict":false}}],"tool_choice":"auto","parallel_tool_calls":true`

func TestConversationTaskIsPreferredAndGetsRolesAndTools(t *testing.T) {
	var got task.ConversationRequest
	s, recs := newServer(t, serving.Config{Models: model(talker(&got))})
	a := chatWith(s, toolTurns, tools+`,"max_tokens":9`)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, []task.Message{
		{Role: task.RoleDeveloper, Parts: []task.Part{{Kind: task.PartText, Text: "d"}}},
		{Role: task.RoleUser, Parts: []task.Part{{Kind: task.PartText, Text: "weather?"}}},
		{Role: task.RoleAssistant, Parts: []task.Part{
			{Kind: task.PartReasoning, Text: "r"},
			{Kind: task.PartToolCall, Call: task.ToolCall{ID: "c0", Name: "weather", Arguments: "{}", State: task.ToolComplete}},
		}},
		{Role: task.RoleTool, Parts: []task.Part{{Kind: task.PartToolResult, Result: task.ToolResult{CallID: "c0", Text: "rain"}}}},
	}, got.Messages)
	require.Equal(t, []task.Tool{{Name: "weather", Description: "d", Schema: `{"type":"object"}`}}, got.Tools)
	require.Equal(t, task.Settings{{Name: "max_new_tokens", Value: task.Int(9)}}, got.Settings)

	c := a.json(t)["choices"].([]any)[0].(map[string]any)
	require.Equal(t, "tool_calls", c["finish_reason"])
	require.Equal(t, map[string]any{
		"role": "assistant", "content": "Let me look.", "reasoning_content": "hm…",
		"tool_calls": []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "weather", "arguments": `{"city":"Ghent"}`}}},
	}, c["message"])
	require.Equal(t, map[string]any{"prompt_tokens": 12.0, "completion_tokens": 8.0, "total_tokens": 20.0}, a.json(t)["usage"])
	r := recs.one()
	require.Equal(t, "text_conversation", r.Task)
	require.Equal(t, record.TokensFromTaskUsage, r.Text.TokenSource)
	require.EqualValues(t, 12, *r.Text.PromptTokens)
}

func TestToolChoiceNoneKeepsToolsFromTheTask(t *testing.T) {
	var got task.ConversationRequest
	s, _ := newServer(t, serving.Config{Models: model(talker(&got))})
	a := chatWith(s, `[{"role":"user","content":"x"}]`, `,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`)
	require.Equal(t, 200, a.status)
	require.Empty(t, got.Tools)
}

func TestStreamedConversationGivesTheDeltasThatClientsJoin(t *testing.T) {
	var got task.ConversationRequest
	s, recs := newServer(t, serving.Config{Models: model(talker(&got))})
	a := chatWith(s, toolTurns, tools+`,"stream":true,"stream_options":{"include_usage":true}`)
	require.Equal(t, "incremental", a.header.Get("X-TRTMC-Streaming"))
	ev := events(t, a.body)
	tool := func(v string) map[string]any {
		return map[string]any{"tool_calls": []any{map[string]any{"index": 0.0, "function": map[string]any{"arguments": v}}}}
	}
	first := map[string]any{"tool_calls": []any{map[string]any{"index": 0.0, "id": "c1", "type": "function", "function": map[string]any{"name": "weather", "arguments": `{"city":`}}}}
	want := []map[string]any{
		{"role": "assistant", "reasoning_content": "hm"}, {"reasoning_content": "…"},
		{"content": "Let me "}, {"content": "look."}, first, tool(`"Ghent"}`), {},
	}
	require.Len(t, ev, len(want)+2)
	for i, w := range want {
		require.Equal(t, w, choice(t, ev[i])["delta"], "event %d", i)
	}
	require.Equal(t, "tool_calls", choice(t, ev[6])["finish_reason"])
	require.Equal(t, 12.0, chunk(t, ev[7])["usage"].(map[string]any)["prompt_tokens"])
	require.Equal(t, "streaming_text_conversation", recs.one().Task)
}

func TestToolCallWithoutArgumentsIsSentAtItsEnd(t *testing.T) {
	m := &fake{talkLive: func(_ context.Context, _ task.ConversationRequest, emit func(task.ConversationDelta) error) (task.ConversationResult, error) {
		for _, d := range []task.ConversationDelta{
			{Kind: task.PartToolCall, CallID: "a", Name: "f"}, {Kind: task.PartToolCall, ToolEnd: true, State: task.ToolComplete},
			{Kind: task.PartToolCall, PartIndex: 1, CallID: "b", Name: "g"}, // cut off: never ended
		} {
			if err := emit(d); err != nil {
				return task.ConversationResult{}, err
			}
		}
		return task.ConversationResult{Finish: task.FinishLength}, nil
	}}
	s, _ := newServer(t, serving.Config{Models: model(m)})
	ev := events(t, chatWith(s, `[{"role":"user","content":"x"}]`, `,"stream":true`).body)
	require.Len(t, ev, 4)
	for i, id := range []string{"a", "b"} {
		call := choice(t, ev[i])["delta"].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)
		require.Equal(t, id, call["id"])
		require.Equal(t, float64(i), call["index"])
	}
}

func TestBadToolsAreRefusedByPath(t *testing.T) {
	var got task.ConversationRequest
	s, _ := newServer(t, serving.Config{Models: model(talker(&got))})
	for tool, param := range map[string]string{
		`{"type":"web"}`:                    "tools[0].type",
		`{"type":"function","function":{}}`: "tools[0].function.name",
		`{"type":"function","function":{"name":"f","parameters":"x"}}`:    "tools[0].function.parameters",
		`{"type":"function","function":{"name":"f","strict":true}}`:       "tools[0].function.strict",
		`{"type":"function","function":{"name":"f"},"x":1}`:               "tools[0].x",
		`{"type":"function","function":{"name":"f","parameters":{"a":1}}`: "",
	} {
		code, p, _ := chatWith(s, `[{"role":"user","content":"x"}]`, fmt.Sprintf(`,"tools":[%s]`, tool)).fault(t)
		require.Equal(t, param, p)
		require.NotEmpty(t, code)
	}
}
