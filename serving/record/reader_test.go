package record_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/serving/record"
)

const good = `{"schema":1,"request_id":"a","request_id_source":"client","route":"/v1/completions","lane":-1,"outcome":"rejected","reason":"queue_full","stage":"queued","status":429,"arrived_ns":5}`

// read returns the ids of the records and the texts of the bad lines, in order.
func read(t *testing.T, in io.Reader) (got []string) {
	t.Helper()
	r := record.NewReader(in, "f")
	for r.Scan() {
		rec, bad := r.Entry()
		require.True(t, (rec == nil) != (bad == nil))
		if bad != nil {
			got = append(got, bad.Error())
			continue
		}
		got = append(got, rec.RequestID)
	}
	require.NoError(t, r.Err())
	return got
}

func TestBadLinesAreEntriesWithTheirPosition(t *testing.T) {
	for bad, want := range map[string]string{
		`{"schema":2` + good[11:]:                                       "schema 2, this reader knows 1 to 1",
		`{"schema":0` + good[11:]:                                       "schema 0",
		strings.Replace(good, "rejected", "vanished", 1):                `outcome "vanished"`,
		strings.Replace(good, `"request_id":"a"`, `"request_id":""`, 1): "without request_id",
		`{"schema":1,"request_id":"a","out`:                             "not a record",
		good + "x":                                                      "not a record",
		good + good:                                                     "not a record",
		`[]`:                                                            "not a record",
		strings.Replace(good, `"a"`, "\"\xff\"", 1):                     "invalid UTF-8",
		strings.Replace(good, "429", `"429"`, 1):                        "not a record",
		strings.Repeat("x", record.MaxLine+1):                           "longer than",
	} {
		got := read(t, strings.NewReader(good+"\n\n"+bad+"\n"+good+"\n"))
		require.Len(t, got, 3)
		require.True(t, strings.HasPrefix(got[1], "f:3: "), got[1])
		require.Contains(t, got[1], want)
		require.Equal(t, "a", got[2])
	}
}

func TestLinesEndAtLineFeedsOnly(t *testing.T) {
	line := strings.Replace(good, `"a"`, "\"a\u2028\u0085\"", 1)
	require.Equal(t, []string{"a\u2028\u0085", "a"}, read(t, strings.NewReader(line+"\r\n"+good)))
}

func TestUnknownFieldsArePassedOver(t *testing.T) {
	require.Equal(t, []string{"a"}, read(t, strings.NewReader(`{"later":{"x":[1]},`+good[1:]+"\n")))
}

func TestTornLastLineIsMarked(t *testing.T) {
	r := record.NewReader(strings.NewReader(good+"\n"+good[:40]), "f")
	require.True(t, r.Scan())
	require.True(t, r.Scan())
	_, bad := r.Entry()
	require.True(t, bad.Torn)
	require.False(t, r.Scan())
	require.False(t, r.Scan())
}

func TestSizeOfReadsDoesNotMatter(t *testing.T) {
	in := good + "\nx\n" + strings.Replace(good, `"a"`, `"`+strings.Repeat("b", 100_000)+`"`, 1) + "\n" + good
	want := read(t, strings.NewReader(in))
	require.Len(t, want, 4)
	require.Equal(t, want, read(t, iotest.OneByteReader(strings.NewReader(in))))
	require.Equal(t, want, read(t, iotest.DataErrReader(strings.NewReader(in))))
}

func TestReadErrorEndsTheReadingAndIsKept(t *testing.T) {
	broken := errors.New("disk on fire")
	r := record.NewReader(io.MultiReader(strings.NewReader(good+"\n"+good), iotest.ErrReader(broken)), "f")
	require.True(t, r.Scan())
	require.False(t, r.Scan())
	require.ErrorIs(t, r.Err(), broken)
	require.False(t, r.Scan())
}

// FuzzReader: any input is read to its end, every line that is not blank is one entry, and what was read as a record
// reads the same again after it was written.
func FuzzReader(f *testing.F) {
	f.Add([]byte(good + "\n"))
	f.Add([]byte(good + "\n" + good[:30] + "\n\n" + good))
	f.Add([]byte("{}\n[]\n\"\"\nnull\n\xff\n"))
	line, err := record.AppendRecord(nil, new(completed("x")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Fuzz(func(t *testing.T, in []byte) {
		lines := 0
		for l := range strings.SplitSeq(string(in), "\n") {
			if strings.TrimSpace(l) != "" {
				lines++
			}
		}
		r := record.NewReader(strings.NewReader(string(in)), "f")
		entries, last := 0, 0
		for r.Scan() {
			entries++
			rec, bad := r.Entry()
			if (rec == nil) == (bad == nil) {
				t.Fatal("an entry is a record or a bad line")
			}
			if bad != nil {
				if bad.Line <= last {
					t.Fatalf("line %d after line %d", bad.Line, last)
				}
				last = bad.Line
				continue
			}
			again, err := record.AppendRecord(nil, rec)
			if err != nil {
				t.Fatal(err)
			}
			second := record.NewReader(strings.NewReader(string(again)), "f")
			if !second.Scan() {
				t.Fatal("a written record is not read")
			}
			back, bad := second.Entry()
			if bad != nil {
				t.Fatalf("a written record is refused: %v", bad)
			}
			third, err := record.AppendRecord(nil, back)
			if err != nil || string(third) != string(again) {
				t.Fatalf("%s became %s (%v)", again, third, err)
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		if entries != lines {
			t.Fatalf("%d entries for %d lines", entries, lines)
		}
	})
}
