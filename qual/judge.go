package qual

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// Judge computes the report of a finished output folder from its files alone. Equal files give equal reports. Missing
// and damaged evidence is a failed check; the error is for a folder that is no run (ErrNoRun) or cannot be read.
func Judge(dir string) (*Report, error) {
	run, err := ReadRun(dir)
	if err != nil {
		return nil, err
	}
	j := &judge{dir: dir, run: run, ledger: Ledger{
		Reference: run.Runtime.Reference, SharedProcess: run.SharedProcess, WallStep: time.Duration(run.WallStepNS),
	}}
	report := &Report{Schema: ReportSchema, Reference: run.Runtime.Reference, Run: run, Workloads: map[string]WorkloadReport{}}
	if report.Reference {
		report.Notice = ReferenceNotice
	}
	report.Evidence = j.seal()
	report.Findings = []Finding{}
	if err := j.openReplays(); err != nil {
		return nil, err
	}
	if err := j.workloads(run.own(), report); err != nil {
		return nil, err
	}
	for _, a := range j.replays {
		if err := a.judge(report); err != nil {
			return nil, err
		}
	}
	sortFindings(report.Findings)
	j.checks = append(j.checks, ledgerChecks(report.Findings)...)
	j.checks = append(j.checks, exitCheck(run))
	validations := j.readValidations()
	j.finish(report)
	if err := j.statuses(report, validations); err != nil {
		return nil, err
	}
	return report, nil
}

// workloads accounts for workloads that one client sent and judges each.
func (j *judge) workloads(list []RunWorkload, report *Report) error {
	prepared := map[string]manifests{}
	for _, w := range list {
		prepared[w.Name] = manifests{j.offer(w), j.offerRanking(w), j.offerVideo(w)}
	}
	for _, w := range list {
		if err := j.rows(w.Name); err != nil {
			return err
		}
	}
	if err := j.records(); err != nil {
		return err
	}
	// What the error of Close lists is in the findings too, each kind with a check of its own.
	account, _ := j.ledger.Close()
	report.Findings = append(report.Findings, account.Findings...)
	for _, w := range account.Workloads {
		out, found, err := j.workload(w, prepared[w.Name])
		if err != nil {
			return err
		}
		report.Findings = append(report.Findings, found...)
		report.Workloads[w.Name] = out
	}
	return nil
}

// manifests are those of one workload, each nil when there is none of its kind.
type manifests struct {
	trace   *trace.Manifest
	ranking *RankingManifest
	video   *VideoManifest
}

// workload makes the report of one workload, with the part that its kind has, and the findings of that part.
func (j *judge) workload(w Workload, m manifests) (out WorkloadReport, found []Finding, err error) {
	out = workloadReport(w, m.trace)
	j.checks = append(j.checks, accountingCheck(w))
	if !slices.Contains(j.ledger.closed, w.Name) {
		j.checks = append(j.checks, fidelityCheck(w, j.run.MaxLatenessMS))
	}
	// These parts have manifests of their own.
	switch {
	case m.ranking != nil:
		out.Manifest = nil
		out.Ranking, found, err = j.ranking(w.Name, m.ranking)
	case m.video != nil:
		out.Manifest = nil
		out.Video, found, err = j.video(w.Name, m.video)
	}
	return out, found, err
}

// judge is one judging under way.
type judge struct {
	dir    string
	run    *Run
	ledger Ledger
	checks []Check
	// replays are the runs of workloads by AIPerf; replay is set in the judging of one of them, which has its own ledger.
	replays []*aiperfReplay
	replay  *aiperfReplay
}

func (j *judge) check(name, workload string, problems []string, good string) {
	c := Check{Name: name, Workload: workload, Held: len(problems) == 0, Detail: good}
	if !c.Held {
		c.Detail = problems[0]
		if len(problems) > 1 {
			c.Detail = fmt.Sprintf("%s; and %d more", c.Detail, len(problems)-1)
		}
	}
	j.checks = append(j.checks, c)
}

// seal compares the files with what run.json says of them and returns what is there now.
func (j *judge) seal() []FileDigest {
	now, broken := compareSeal(j.dir, j.run.Sealed)
	if len(j.run.Sealed) == 0 {
		broken = append(broken, "run.json seals no file")
	}
	j.check("evidence is what the run left", "", broken, fmt.Sprintf("%d files have their sealed digests", len(now)))
	if own, err := digestFile(j.dir, RunFile); err == nil {
		now = append(now, own)
	}
	slices.SortFunc(now, func(a, b FileDigest) int { return cmp.Compare(a.Path, b.Path) })
	return now
}

// rows adds the client rows of a workload.
func (j *judge) rows(name string) error {
	if j.replay != nil {
		j.replay.eachRow(j.ledger.AddRow)
		return nil
	}
	rel := workloadPath(name, ClientFile)
	f, err := j.open(rel)
	if f == nil {
		return err
	}
	defer f.Close()
	r := trace.NewRowReader(f, rel)
	r.Reuse = true
	for r.Scan() {
		row, bad := r.Row()
		if bad != nil {
			j.ledger.AddBadLine(name, fmt.Sprintf("%s:%d", rel, bad.Line), bad.Msg, bad.Torn)
			continue
		}
		j.ledger.AddRow(row)
	}
	return r.Err()
}

// records adds the server's records.
func (j *judge) records() error {
	f, err := j.open(RecordsFile)
	if f == nil {
		return err
	}
	defer f.Close()
	r := record.NewReader(f, RecordsFile)
	r.Reuse = true
	for r.Scan() {
		rec, bad := r.Entry()
		if bad != nil {
			j.ledger.AddBadLine("", fmt.Sprintf("%s:%d", RecordsFile, bad.Line), bad.Msg, bad.Torn)
			continue
		}
		if rec = j.mine(rec); rec != nil {
			j.ledger.AddRecord(rec)
		}
	}
	return r.Err()
}

// open opens a file of the folder. A file that is not there is a failed check and gives nil, nil.
func (j *judge) open(rel string) (*os.File, error) {
	f, err := os.Open(filepath.Join(j.dir, filepath.FromSlash(rel)))
	if os.IsNotExist(err) {
		j.check("evidence is complete", "", []string{rel + " is missing"}, "")
		return nil, nil
	}
	return f, err
}

func workloadPath(name, file string) string { return path.Join(WorkloadDir, name, file) }

// finish sorts the checks into a verdict, and gathers doubts.
func (j *judge) finish(r *Report) {
	r.Checks = j.checks
	r.Verdict = Verdict{Held: true, Failed: []string{}}
	for _, c := range r.Checks {
		if c.Held {
			continue
		}
		name := c.Name
		if c.Workload != "" {
			name = c.Workload + ": " + name
		}
		r.Verdict.Held = false
		if !slices.Contains(r.Verdict.Failed, name) {
			r.Verdict.Failed = append(r.Verdict.Failed, name)
		}
	}
	r.Doubts = append([]string{}, j.ledger.clocks.doubts()...)
	for _, name := range r.Names() {
		r.Doubts = append(r.Doubts, r.Workloads[name].doubts()...)
	}
}

// relative keeps the folder's own path out of a report: judging a copy elsewhere must give the same bytes.
func relative(dir string, err error) string {
	return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}
