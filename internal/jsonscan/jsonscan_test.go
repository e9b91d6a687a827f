package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/internal/jsonscan"
)

func Example() {
	var point struct {
		X, Y int
		Name string
	}
	o := new(jsonscan.Object)
	jsonscan.Int(o, "x", &point.X)
	jsonscan.Int(o, "y", &point.Y)
	jsonscan.Text(o, "name", &point.Name)
	var s jsonscan.Scanner
	for _, line := range []string{`{"x":1,"y":-2,"colour":[],"name":"a"}`, `{"x":1,"x":2}`, `{"x":1.5}`} {
		s.Reset([]byte(line))
		if o.Scan(&s) && s.AtEnd() {
			fmt.Println(point)
			continue
		}
		fmt.Println(s.Err())
	}
	// Output:
	// {1 -2 a}
	// "x" stands twice in one object
	// found "1.5}" at column 6; want a whole number
}

func TestWholeNumbersAreExact(t *testing.T) {
	var v int64
	o := new(jsonscan.Object)
	jsonscan.Int(o, "v", &v)
	var s jsonscan.Scanner
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,21})`), rapid.StringMatching(`-?922337203685477580[0-9]`),
			rapid.StringMatching(`-?[0-9]{1,20}([.eE][0-9])?`), rapid.StringMatching(`[0-9]{0,18}[/:-]?[0-9]{0,3}`),
			rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
		).Draw(rt, "text")
		v = 0
		s.Reset([]byte(`{"v":` + text + `}`))
		got := o.Scan(&s)
		var want int64
		err := json.Unmarshal([]byte(text), &want)
		if got != (err == nil) || got && v != want {
			rt.Fatalf("%s: got %t %d, want %d (%v)", text, got, v, want, err)
		}
	})
}

// TestTextsSurviveLaterLines fills the list of words several times over.
func TestTextsSurviveLaterLines(t *testing.T) {
	var text, word string
	o := new(jsonscan.Object)
	jsonscan.Text(o, "text", &text)
	jsonscan.Word(o, "word", &word)
	var s jsonscan.Scanner
	var texts, words []string
	line := make([]byte, 0, 2000)
	want := func(i int) string { return strings.Repeat("x", i%700) + fmt.Sprint(i) }
	const n = 5000
	for i := range n {
		line = fmt.Appendf(line[:0], `{"text":%q,"word":%q}`, want(i), want(i/3))
		s.Reset(line)
		require.True(t, o.Scan(&s))
		texts, words = append(texts, text), append(words, word)
	}
	for i := range n {
		require.Equal(t, want(i), texts[i])
		require.Equal(t, want(i/3), words[i])
	}
}

func TestBorrowedTextsCostNoMemory(t *testing.T) {
	var text, word string
	o := new(jsonscan.Object)
	jsonscan.Text(o, "text", &text)
	jsonscan.Word(o, "word", &word)
	s := jsonscan.Scanner{Borrow: true}
	line := []byte(`{"text":"` + strings.Repeat("a", 1000) + `","word":"b"}`)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s.Reset(line); !o.Scan(&s) {
			t.Fatal(s.Err())
		}
	}))
	copy(line, `{"text":"xyz`)
	require.Equal(t, "xyzaa", text[:5], "a borrowed text is the line's own")
	copy(line, strings.Repeat("-", len(line)))
	require.Equal(t, "b", word, "a word never is")
}

func TestNestingIsBounded(t *testing.T) {
	o := new(jsonscan.Object)
	var m map[string]any
	jsonscan.Map(o, "map", &m)
	var s jsonscan.Scanner
	for _, name := range []string{"map", "other"} {
		for _, depth := range []int{9998, 9999, 200_000} {
			line := `{"` + name + `":{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}}`
			s.Reset([]byte(line))
			require.Equal(t, json.Valid([]byte(line)), o.Scan(&s), "%s %d", name, depth)
		}
	}
	require.EqualError(t, s.Err(), "values are nested deeper than 10000")
}
