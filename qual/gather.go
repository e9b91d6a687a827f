package qual

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// eachLine gives every line of a file of a workload's folder to take; what it says of a line is a finding. A file that
// is not there is a failed check.
func (j *judge) eachLine(workload, file string, take func(line []byte) error) ([]Finding, error) {
	rel := workloadPath(workload, file)
	f, err := j.open(rel)
	if f == nil {
		return nil, err
	}
	defer f.Close()
	var found []Finding
	bad := func(line int, what any) {
		found = append(found, Finding{Kind: KindBadLine, Workload: workload, Detail: fmt.Sprintf("%s:%d: %v", rel, line, what)})
	}
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, trace.MaxLine)
	n := 0
	for scan.Scan() {
		n++
		if err := take(scan.Bytes()); err != nil {
			bad(n, err)
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		bad(n+1, fmt.Sprintf("longer than %d bytes", trace.MaxLine))
	} else if err != nil {
		return found, fmt.Errorf("read %s: %w", rel, err)
	}
	return found, nil
}

// eachRow gives the client's rows of a workload to take. Bad lines are the ledger's findings already.
func (j *judge) eachRow(workload string, take func(*trace.Row)) error {
	if j.replay != nil {
		j.replay.eachRow(take)
		return nil
	}
	return j.reread(workloadPath(workload, ClientFile), func(f *os.File) error {
		rows := trace.NewRowReader(f, ClientFile)
		for rows.Scan() {
			if row, _ := rows.Row(); row != nil {
				take(row)
			}
		}
		return rows.Err()
	})
}

// eachRecord gives the server's records to take. Bad lines are the ledger's findings already.
func (j *judge) eachRecord(take func(*record.Record)) error {
	return j.reread(RecordsFile, func(f *os.File) error {
		records := record.NewReader(f, RecordsFile)
		for records.Scan() {
			if rec, _ := records.Entry(); rec != nil {
				if rec = j.mine(rec); rec != nil {
					take(rec)
				}
			}
		}
		return records.Err()
	})
}

// reread opens a file that the ledger has read before; that it is missing has been said then.
func (j *judge) reread(rel string, from func(*os.File) error) error {
	f, err := os.Open(filepath.Join(j.dir, filepath.FromSlash(rel)))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return from(f)
}

// bundleOf is the bundle that was served under a name; the zero value when the run does not know it.
func (j *judge) bundleOf(model string) BundleFacts {
	for _, b := range j.run.Bundles {
		if b.Model == model {
			return b
		}
	}
	return BundleFacts{}
}

// completed reports whether both sides say that a request completed.
func (j *judge) completed(id string) bool {
	i := j.ledger.ids.find(id)
	return i >= 0 && j.ledger.entries.at(i).outcome == completed
}
