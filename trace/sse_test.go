package trace_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

// chunked delivers size bytes at a time.
type chunked struct {
	data []byte
	size int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.data)
	c.data = c.data[n:]
	return n, nil
}

// seen is an event with memory of its own.
type seen struct {
	name, data, comment string
}

// events returns all events and a last one that says how the stream ended.
func events(s *trace.SSEScanner) []seen {
	var out []seen
	for s.Scan() {
		ev := s.Event()
		out = append(out, seen{ev.Name, string(ev.Data), string(ev.Comment)})
	}
	end := seen{name: "end"}
	if s.Err() != nil {
		end.data = s.Err().Error()
	}
	if s.Incomplete() {
		end.comment = "incomplete"
	}
	return append(out, end)
}

func TestCase_D15(t *testing.T) {
	stream := ": keep-alive\r\n\r\ndata:{\"t\":\"é\"}\r\n\r\ndata: {\"t\":\" b \"}\r\n\r\ndata: [DONE]\r\n\r\n"
	want := []seen{{"", `{"t":"é"}`, ""}, {"", `{"t":" b "}`, ""}, {"", "[DONE]", ""}, {name: "end"}}
	for _, end := range []string{"\r\n", "\n", "\r"} {
		text := strings.ReplaceAll(stream, "\r\n", end)
		require.Equal(t, want, events(trace.NewSSEScanner(iotest.OneByteReader(strings.NewReader(text)))), "%q", end)
		require.Equal(t, want, events(trace.NewSSEScanner(strings.NewReader(text))), "%q at once", end)
		require.Equal(t, want, events(trace.NewSSEScanner(iotest.DataErrReader(strings.NewReader(text)))), "%q with the end", end)
	}
}

func TestSSEFields(t *testing.T) {
	text := "\xef\xbb\xbfdata\n\nevent: error\n: overloaded\ndata: {\ndata:  }\nid: 7\nretry: 1\nother\n\nevent: only\n\n:c\n\ndata: cut"
	require.Equal(t, []seen{
		{"", "", ""}, {"error", "{\n }", "overloaded"}, {"only", "", ""}, {name: "end", comment: "incomplete"},
	}, events(trace.NewSSEScanner(strings.NewReader(text))))
}

func TestSSEEventIsOutBeforeTheNextByte(t *testing.T) {
	for _, end := range []string{"\r\r", "\n\n", "\r\n\r\n", "\r\n\r"} {
		r, w := io.Pipe()
		s := trace.NewSSEScanner(r)
		wrote := make(chan error, 1)
		go func() {
			_, err := io.WriteString(w, "data: a"+end)
			wrote <- err
		}()
		require.True(t, s.Scan(), "%q: the pipe stays open and silent", end)
		require.Equal(t, "a", string(s.Event().Data))
		require.NoError(t, w.Close())
		<-wrote
		require.NoError(t, r.Close())
	}
}

func TestSSEEndlessLineIsRefused(t *testing.T) {
	s := trace.NewSSEScanner(&loop{text: []byte("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")})
	require.False(t, s.Scan())
	require.ErrorIs(t, s.Err(), trace.ErrEventTooLong)
	s = trace.NewSSEScanner(&loop{text: []byte("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")})
	require.False(t, s.Scan())
	require.ErrorIs(t, s.Err(), trace.ErrEventTooLong)
}
