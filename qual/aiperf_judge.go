package qual

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/trtmc-go/trtmc/qual/aiperf"
	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// The kinds of finding that only runs by AIPerf have; each fails one check.
const (
	KindBody   Kind = "body_differs"   // the client sent another body than was prepared
	KindTokens Kind = "tokens_differ"  // the answer that the client kept and the record name different token counts
	KindNoTask Kind = "task_call_less" // completed on both sides, but the record names no Task call
)

// settledByLedger are the findings of package aiperf that the accounting decides: a refused or lost request is one
// outcome of one request, and fails its own check or none.
func settledByLedger() []string {
	return []string{"unsuccessful", "rows-lost", "rows-extra", "silent-end", "error-inside", "warmup-count", "exit-code"}
}

// judge judges what AIPerf sent and adds it to the report.
func (a *aiperfReplay) judge(report *Report) error {
	run := a.main.run
	sub := &judge{dir: a.main.dir, run: run, replay: a, ledger: Ledger{Reference: run.Runtime.Reference, WallStep: time.Duration(run.WallStepNS)}}
	part := &Report{Workloads: map[string]WorkloadReport{}}
	if err := sub.workloads([]RunWorkload{a.of}, part); err != nil {
		return err
	}
	if err := a.compareRecords(sub); err != nil {
		return err
	}
	out, ok := part.Workloads[a.of.Name]
	if !ok {
		out.Measured = Counts{}
		sub.checks = append(sub.checks, accountingCheck(out.Workload))
	}
	out.Name = a.w.Name
	out.AIPerf = a.report(report.Workloads[a.of.Name], out)
	a.checks(sub, out.AIPerf, part.Findings)
	for _, c := range sub.checks {
		c.Workload = a.w.Name
		a.main.checks = append(a.main.checks, c)
	}
	for _, f := range part.Findings {
		f.Workload = a.w.Name
		if f.Kind == KindUnknownRec {
			f.Detail = "arrived while AIPerf ran and is in no export: in flight when the client stopped, or not its own; " + f.Detail
		}
		report.Findings = append(report.Findings, f)
	}
	report.Findings = append(report.Findings, a.findings...)
	report.Workloads[a.w.Name] = out
	return nil
}

// compareRecords holds the answers that the client kept against the server's records.
func (a *aiperfReplay) compareRecords(sub *judge) error {
	rows := make(map[string]*trace.Row, len(a.rows))
	for _, row := range a.rows {
		rows[row.RequestID] = row
	}
	return sub.eachRecord(func(rec *record.Record) {
		a.arrivals[rec.RequestID] = rec.WallBaseUnixNS + rec.ArrivedNS
		row := rows[rec.RequestID]
		if row == nil || !sub.completed(rec.RequestID) {
			return
		}
		if rec.TaskCallStartNS == 0 || rec.TaskCallEndNS == 0 {
			a.find(KindNoTask, rec.RequestID, "the record of a completed request has no Task call")
		}
		if rec.Text == nil || row.CompletionTokens == nil || rec.Text.CompletionTokens == nil {
			return
		}
		if got, want := *row.CompletionTokens, *rec.Text.CompletionTokens; got != want {
			a.find(KindTokens, rec.RequestID, "the client kept an answer of %d tokens, the record says %d", got, want)
		}
	})
}

// checks adds what only a run by AIPerf is checked for.
func (a *aiperfReplay) checks(sub *judge, r *AIPerfReport, found []Finding) {
	in, res := a.evidence.Installation, a.evidence.Result
	var client []string
	if !in.Verified || in.Version != aiperf.Version || in.ContentSHA256 != aiperf.ContentSHA256 {
		client = append(client, fmt.Sprintf("version %q, verified %t, content sha256 %.12s; want %s with %.12s", in.Version, in.Verified, in.ContentSHA256, aiperf.Version, aiperf.ContentSHA256))
	}
	sub.check("the client is the published AIPerf "+aiperf.Version, "", client, "version, file list and every file are those of the wheel")
	sub.check("AIPerf ended by itself and left all its files", "", append(a.problems, a.ending()...), fmt.Sprintf("exit code %d, %d files as it left them", res.ExitCode, len(res.Files)))
	sub.check("AIPerf was given the prepared workload", "", a.inputProblems(), "the file it read is the prepared one")
	var broken []string
	for _, f := range r.Findings {
		if f.Blocks && !slices.Contains(settledByLedger(), f.Code) {
			broken = append(broken, f.Text)
		}
	}
	sub.check("AIPerf's exports are whole and agree with themselves", "", broken, fmt.Sprintf("%d measured and %d warm-up rows", r.Rows.Rows, r.WarmupRows.Rows))
	all := append(slices.Clone(found), a.findings...)
	sub.checks = append(sub.checks,
		rule{"AIPerf sent the prepared bodies", []Kind{KindBody}, "every body it kept is the prepared one"}.check("", all),
		rule{"answers are the recorded ones", []Kind{KindTokens}, "token counts of the kept answers are those of the records"}.check("", all),
		rule{"every request joins to its Task call", joinKinds(), "prepared row, client row, request and record, one to one; completed requests to their Task call"}.check("", all),
	)
	r.Joined = sub.checks[len(sub.checks)-1].Held && len(a.rows) > 0
}

func joinKinds() []Kind {
	return []Kind{KindDoubleOffer, KindNoRow, KindDoubleRow, KindUnknownRow, KindNoRecord, KindRetried, KindUnknownRec, KindWrongPhase, KindBadLine, KindTornLine, KindNoTask}
}

// ending says what is wrong with how the client ended and with the files it left.
func (a *aiperfReplay) ending() []string {
	res := a.evidence.Result
	var out []string
	if res.End != aiperf.Exited {
		out = append(out, fmt.Sprintf("it ended by %q", res.End))
	}
	if res.LeftBehind {
		out = append(out, "it left processes behind, which were killed")
	}
	if a.export == nil {
		return out
	}
	now, err := aiperf.DigestFiles(a.export.Dir)
	if err != nil {
		return append(out, relative(a.main.dir, err))
	}
	for _, was := range res.Files {
		i := slices.IndexFunc(now, func(f aiperf.File) bool { return f.Name == was.Name })
		if i < 0 {
			out = append(out, was.Name+" is missing")
		} else if now[i] != was {
			out = append(out, fmt.Sprintf("%s has sha256 %.12s, the client left %.12s", was.Name, now[i].SHA256, was.SHA256))
		}
	}
	if len(now) != len(res.Files) {
		out = append(out, fmt.Sprintf("there are %d files, the client left %d", len(now), len(res.Files)))
	}
	return out
}

// inputProblems makes the file that the client was given once more and compares.
func (a *aiperfReplay) inputProblems() []string {
	folder := filepath.Join(a.main.dir, WorkloadDir, a.of.Name)
	want := ""
	if a.kind == aiperf.TextTrace {
		digest, err := digestFile(folder, WorkloadFile)
		if err != nil {
			return []string{relative(a.main.dir, err)}
		}
		want = digest.SHA256
	} else {
		data, err := aiperfInput(folder, a.kind, a.fixed)
		if err != nil {
			return []string{relative(a.main.dir, err)}
		}
		want = sha256Hex(data)
	}
	if got := a.evidence.Result.InputSHA256; got != want {
		return []string{fmt.Sprintf("the file it read has sha256 %.12s, the prepared one %.12s", got, want)}
	}
	return nil
}
