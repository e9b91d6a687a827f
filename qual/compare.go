package qual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Comparison is what two runs differ in.
type Comparison struct {
	Warnings  []string // what makes the two hard to compare: other settings, workloads, bundles, runtimes
	Workloads []WorkloadComparison
}

// WorkloadComparison compares one workload. Missing says in which run it is not.
type WorkloadComparison struct {
	Name    string
	Missing string
	Rates   []RateComparison
	Shares  []ShareComparison
	Times   []TimeComparison
}

// RateComparison compares rates per second; one run gives one rate, so there is no interval.
type RateComparison struct {
	Name string
	A, B Rate
}

// ShareComparison compares how many of the offered requests ended in one way.
type ShareComparison struct {
	Name                     string
	A, OfferedA, B, OfferedB int
	Finding                  string
}

// TimeComparison compares a percentile of a time in milliseconds.
type TimeComparison struct {
	Name               string
	SamplesA, SamplesB int
	A, B               Figure
	Ratio, Low, High   Figure // B over A and its 95 % interval
	Finding            string
}

// The words of findings; a difference is said with figures instead.
const (
	NoDifference  = "no difference"
	TooFewSamples = "too few samples"
)

// Compare judges two finished folders again and compares what they measured.
//
// A percentile is compared by the ratio of B to A with a 95 % interval from a seeded bootstrap over the values of
// single requests: the median from 20 samples on each side, p90 from 100. An interval that holds 1 is no difference.
// Shares are compared from 20 requests on each side by the interval of Agresti and Caffo.
func Compare(a, b string) (*Comparison, error) {
	left, err := readCompared(a)
	if err != nil {
		return nil, fmt.Errorf("compare, first folder: %w", err)
	}
	right, err := readCompared(b)
	if err != nil {
		return nil, fmt.Errorf("compare, second folder: %w", err)
	}
	out := &Comparison{Warnings: warnings(left.report, right.report)}
	names := slices.Concat(left.report.Names(), right.report.Names())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		out.Workloads = append(out.Workloads, compareWorkload(name, left, right))
	}
	return out, nil
}

// compared is one side of a comparison.
type compared struct {
	report *Report
	times  map[string][]timeValues // by workload
}

// timeValues are the values of one time of single requests, sorted, in milliseconds.
type timeValues struct {
	name   string
	values []float64
}

func readCompared(dir string) (*compared, error) {
	report, err := Judge(dir)
	if err != nil {
		return nil, err
	}
	// The ledger of a second judging still has the single requests.
	run := report.Run
	j := &judge{dir: dir, run: run, ledger: Ledger{
		Reference: run.Runtime.Reference, SharedProcess: run.SharedProcess, WallStep: time.Duration(run.WallStepNS),
	}}
	if err := j.openReplays(); err != nil {
		return nil, err
	}
	if err := j.workloads(run.own(), &Report{Workloads: map[string]WorkloadReport{}}); err != nil {
		return nil, err
	}
	out := &compared{report: report, times: map[string][]timeValues{}}
	for _, name := range report.Names() {
		if w := slices.Index(j.ledger.names, name); w >= 0 {
			out.times[name] = j.ledger.timeValues(uint8(w))
		} else {
			out.times[name] = curveValues(report.Workloads[name])
		}
	}
	return out, nil
}

// timeValues collects what is compared of the measured requests: client and server apart.
func (l *Ledger) timeValues(w uint8) []timeValues {
	var out []timeValues
	add := func(name string, of func(e *entry) span) {
		_, ms := l.sample(w, completed, func(e *entry) (span, bool) { v := of(e); return v, v != absent })
		out = append(out, timeValues{name, ms})
	}
	add("client: latency from sending", func(e *entry) span { return e.lastByte })
	add("client: time to first content", func(e *entry) span { return e.firstContent })
	add("server: waiting for a lane", func(e *entry) span { return e.queue })
	add("server: Task call", func(e *entry) span { return e.taskCall })
	return out
}

// curveValues stands in where the ledger of a workload is not at hand: at most 101 values, so that the intervals are
// wider than they could be.
func curveValues(w WorkloadReport) []timeValues {
	var out []timeValues
	for _, d := range []struct {
		name string
		d    Distribution
	}{
		{"client: latency from sending", w.Client.Latency}, {"client: time to first content", w.Client.FirstContent},
		{"server: waiting for a lane", w.Server.Queue}, {"server: Task call", w.Server.TaskCall},
	} {
		v := timeValues{name: d.name}
		for _, f := range d.d.Curve {
			v.values = append(v.values, float64(f))
		}
		out = append(out, v)
	}
	return out
}

func compareWorkload(name string, a, b *compared) WorkloadComparison {
	out := WorkloadComparison{Name: name}
	left, inA := a.report.Workloads[name]
	right, inB := b.report.Workloads[name]
	switch {
	case !inA:
		out.Missing = "A"
	case !inB:
		out.Missing = "B"
	}
	if out.Missing != "" {
		return out
	}
	out.Rates = []RateComparison{
		{"offered", left.Rates.Offered, right.Rates.Offered}, {"scheduled", left.Rates.Scheduled, right.Rates.Scheduled},
		{"arrived", left.Rates.Arrived, right.Rates.Arrived}, {"completed", left.Rates.Completed, right.Rates.Completed},
	}
	for _, s := range []ShareComparison{
		{Name: "completed", A: left.Measured.Completed, B: right.Measured.Completed},
		{Name: "rejected", A: left.Measured.Rejected, B: right.Measured.Rejected},
		{Name: "failed", A: left.Measured.Failed, B: right.Measured.Failed},
	} {
		s.OfferedA, s.OfferedB = left.Measured.Offered, right.Measured.Offered
		s.Finding = s.find()
		out.Shares = append(out.Shares, s)
	}
	for i, v := range a.times[name] {
		if i >= len(b.times[name]) {
			break
		}
		other := b.times[name][i].values
		if len(v.values) == 0 && len(other) == 0 {
			continue
		}
		for _, p := range []float64{0.5, 0.9} {
			out.Times = append(out.Times, compareTimes(fmt.Sprintf("%s, p%g", v.name, 100*p), v.values, other, p))
		}
	}
	return out
}

// warnings lists what differs in how the two were made.
func warnings(a, b *Report) []string {
	var out []string
	differ := func(what, left, right string) {
		if left != right {
			out = append(out, fmt.Sprintf("%s: A has %s, B has %s", what, orUnknown(left), orUnknown(right)))
		}
	}
	for _, side := range []struct {
		name string
		r    *Report
	}{{"A", a}, {"B", b}} {
		if !side.r.Verdict.Held {
			out = append(out, fmt.Sprintf("checks of %s did not hold: %s", side.name, strings.Join(side.r.Verdict.Failed, ", ")))
		}
	}
	x, y := a.Run, b.Run
	differ("runtime", x.Runtime.Version+" "+short(x.Runtime.SHA256), y.Runtime.Version+" "+short(y.Runtime.SHA256))
	differ("program", x.Program.Revision+" "+short(x.Program.SHA256), y.Program.Revision+" "+short(y.Program.SHA256))
	differ("machine", fmt.Sprintf("%s, %d CPUs, kernel %s", x.Host.CPU, x.Host.CPUs, x.Host.Kernel), fmt.Sprintf("%s, %d CPUs, kernel %s", y.Host.CPU, y.Host.CPUs, y.Host.Kernel))
	differ("stack", flat(x.Stack.rows()), flat(y.Stack.rows()))
	differ("server", serverWords(x.Server), serverWords(y.Server))
	differ("client", fmt.Sprintf("%s, timeout %g ms", x.Client.Name, x.Client.TimeoutMS), fmt.Sprintf("%s, timeout %g ms", y.Client.Name, y.Client.TimeoutMS))
	differ("bundles", bundleWords(x.Bundles), bundleWords(y.Bundles))
	for _, w := range x.Workloads {
		i := slices.IndexFunc(y.Workloads, func(v RunWorkload) bool { return v.Name == w.Name })
		if i < 0 {
			continue
		}
		differ("settings of "+w.Name, settingWords(w), settingWords(y.Workloads[i]))
		file := workloadPath(w.Name, WorkloadFile)
		differ("workload file of "+w.Name, short(digestOf(a.Evidence, file)), short(digestOf(b.Evidence, file)))
	}
	return out
}

func serverWords(s ServerFacts) string {
	return fmt.Sprintf("in process %t, %d lanes, queue of %d requests, %d bytes, %g ms", s.InProcess, s.Lanes, s.QueueCount, s.QueueBytes, s.QueueWaitMS)
}

func settingWords(w RunWorkload) string {
	return fmt.Sprintf("model %s, %s, streaming %t, source %s, %s", w.Model, w.Path, w.Streaming, short(w.SourceSHA256), compactJSON(w.Settings))
}

func bundleWords(all []BundleFacts) string {
	words := make([]string, len(all))
	for i, b := range all {
		words[i] = fmt.Sprintf("%s %s, %d lanes", b.Model, short(b.SHA256), b.Lanes)
	}
	return strings.Join(words, "; ")
}

func digestOf(files []FileDigest, path string) string {
	i, found := slices.BinarySearchFunc(files, path, func(f FileDigest, p string) int { return cmp.Compare(f.Path, p) })
	if !found {
		return ""
	}
	return files[i].SHA256
}

func short(digest string) string { return fmt.Sprintf("%.12s", digest) }

func flat(rows [][]string) string {
	var words []string
	for _, r := range rows {
		words = append(words, strings.Join(r, " "))
	}
	return strings.Join(words, "; ")
}
