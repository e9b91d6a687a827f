package qual_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// joined is what a join says of a generated run.
type joined struct {
	Counts qual.Counts
	Causes map[string]int
	Rows   int // client rows of offered requests
	Lost   []string
}

// joinByLedger joins the files of a generated run as Judge does.
func joinByLedger(dir string, n int) (joined, error) {
	l, err := fillLedger(dir, n)
	if err != nil {
		return joined{}, err
	}
	w, findings := l.Join()
	return ledgerJoined(w, findings), nil
}

// accountByLedger also computes all that is in an account beyond the join: checks, distributions and series.
func accountByLedger(dir string, n int) (joined, error) {
	l, err := fillLedger(dir, n)
	if err != nil {
		return joined{}, err
	}
	account, _ := l.Close() // its error is the lost requests, which are wanted here
	return ledgerJoined(account.Workloads[0], account.Findings), nil
}

func ledgerJoined(w qual.Workload, findings []qual.Finding) joined {
	out := joined{Counts: w.Measured, Causes: map[string]int{}}
	for _, c := range w.Causes {
		out.Causes[c.Cause] += c.Count
	}
	for _, s := range w.Statuses {
		out.Rows += s.Count
	}
	for _, f := range findings {
		if f.Kind == qual.KindNoRecord {
			out.Lost = append(out.Lost, f.RequestID)
		}
	}
	return out
}

func fillLedger(dir string, n int) (*qual.Ledger, error) {
	l := new(qual.Ledger)
	for i := range n {
		if err := l.Offer("w", trace.PhaseMeasured, joinID(i), joinOffset(i)); err != nil {
			return nil, err
		}
	}
	if err := addRows(l, filepath.Join(dir, joinRowsFile)); err != nil {
		return nil, err
	}
	return l, addRecords(l, filepath.Join(dir, joinRecordsFile))
}

func addRows(l *qual.Ledger, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := trace.NewRowReader(f, path)
	rows.Reuse = true
	for rows.Scan() {
		row, bad := rows.Row()
		if bad != nil {
			return bad
		}
		l.AddRow(row)
	}
	return rows.Err()
}

func addRecords(l *qual.Ledger, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	records := record.NewReader(f, path)
	records.Reuse = true
	for records.Scan() {
		rec, bad := records.Entry()
		if bad != nil {
			return bad
		}
		l.AddRecord(rec)
	}
	return records.Err()
}

// joinByMaps joins them as anybody would: both files into maps by encoding/json, then one look-up for each request.
func joinByMaps(dir string, n int) (joined, error) {
	out := joined{Causes: map[string]int{}}
	rows, err := decodeAll(filepath.Join(dir, joinRowsFile), func(r *trace.Row) string { return r.RequestID })
	if err != nil {
		return out, err
	}
	records, err := decodeAll(filepath.Join(dir, joinRecordsFile), func(r *record.Record) string { return r.RequestID })
	if err != nil {
		return out, err
	}
	for i := range n {
		row, there := rows[joinID(i)]
		rec, recorded := records[joinID(i)]
		if there {
			out.Rows++
		}
		if !recorded {
			out.Lost = append(out.Lost, joinID(i))
		}
		s := qual.Settle(qual.ServerSide{Outcome: rec.Outcome, Reason: rec.Reason, Status: rec.Status},
			qual.ClientSide{Result: row.Result, Status: row.Status, ErrorCode: row.ErrorCode})
		out.Counts.Offered++
		switch s.Outcome {
		case record.Completed:
			out.Counts.Completed++
			continue
		case record.Rejected:
			out.Counts.Rejected++
		case record.Failed:
			out.Counts.Failed++
		}
		out.Causes[s.Cause]++
	}
	return out, nil
}

// decodeAll reads a file of JSON lines into a map.
func decodeAll[T any](path string, id func(*T) string) (map[string]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]T{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, err
		}
		all[id(&v)] = v
	}
	return all, lines.Err()
}

func TestLedgerJoinsAsTwoMapsDo(t *testing.T) {
	const n = 20_000
	dir := t.TempDir()
	require.NoError(t, joinFiles(dir, n))
	got, err := joinByLedger(dir, n)
	require.NoError(t, err)
	want, err := joinByMaps(dir, n)
	require.NoError(t, err)
	require.Equal(t, want, got)
	all, err := accountByLedger(dir, n)
	require.NoError(t, err)
	require.Equal(t, want, all)
	require.Equal(t, n, got.Rows)
	require.Len(t, got.Lost, n/1000)
	require.Equal(t, n/50, got.Counts.Rejected)
	require.Equal(t, n, got.Counts.Offered)
	require.Positive(t, got.Causes[string(record.ReasonTaskError)])
}
