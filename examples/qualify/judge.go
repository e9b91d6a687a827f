package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/qual/inventory"
)

// judge judges a folder, writes its reports and prints the table. It returns whether every check held. A status
// that is claimed, or that the report in the folder prints, without being carried by the evidence is an error; the report
// is replaced by what the evidence carries.
func judge(dir, claim string, out io.Writer) (bool, error) {
	report, err := qual.Judge(dir)
	if err != nil {
		return false, fmt.Errorf("judge: %w", err)
	}
	refused := report.CheckPrinted(dir)
	if claim != "" {
		if err := report.Claim(inventory.Status(claim)); err != nil {
			refused = errors.Join(refused, fmt.Errorf("-claim %s: %w", claim, err))
		}
	}
	if err := report.Write(dir); err != nil {
		return false, fmt.Errorf("write report: %w", err)
	}
	printReport(report, out)
	fmt.Fprintf(out, "\n%s\n", filepath.Join(dir, qual.ReportMD))
	if refused != nil {
		return false, oneLine(refused)
	}
	return report.Verdict.Held, nil
}

// oneLine puts joined errors into one line.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }

// printReport writes what a terminal needs to see of a report.
func printReport(r *qual.Report, out io.Writer) {
	fmt.Fprintln(out)
	if r.Notice != "" {
		fmt.Fprintln(out, r.Notice)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "workload\tphase\toffered\tcompleted\trejected\tfailed")
	for _, name := range r.Names() {
		l := r.Workloads[name]
		fmt.Fprintf(w, "%s\tmeasured\t%d\t%d\t%d\t%d\n", name, l.Measured.Offered, l.Measured.Completed, l.Measured.Rejected, l.Measured.Failed)
		fmt.Fprintf(w, "\twarm-up\t%d\t%d\t%d\t%d\n", l.Warmup.Offered, l.Warmup.Completed, l.Warmup.Rejected, l.Warmup.Failed)
	}
	fmt.Fprintln(w)
	for _, name := range r.Names() {
		l := r.Workloads[name]
		fmt.Fprintf(w, "%s, milliseconds\tsamples\tp50\tp90\tp99\tmax\n", name)
		for _, row := range []struct {
			what string
			d    qual.Distribution
		}{
			{"lateness at sending", l.Lateness.Send}, {"lateness at the server", l.Lateness.Arrival}, {"client latency", l.Client.Latency},
			{"first content", l.Client.FirstContent}, {"waiting for a lane", l.Server.Queue}, {"Task call", l.Server.TaskCall},
		} {
			if row.d.Samples > 0 {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", row.what, row.d.Samples, row.d.P50, row.d.P90, row.d.P99, row.d.Max)
			}
		}
	}
	for _, name := range r.Names() {
		if k := r.Workloads[name].Ranking; k != nil {
			fmt.Fprintf(w, "%s: equal to direct Task calls %s, warm-up %s; %s requests/s, %s passages/s\n",
				name, k.Identity.Measured, k.Identity.Warmup, k.RequestsPerSecond, k.PassagesPerSecond)
		}
		if v := r.Workloads[name].Video; v != nil {
			fmt.Fprintf(w, "%s: frames equal to direct Task calls %s, warm-up %s; sound artifacts %s; %s clips/minute, %s frames/s\n",
				name, v.Identity.Measured, v.Identity.Warmup, v.Artifacts, v.ClipsPerMinute, v.FramesPerSecond)
		}
	}
	_ = w.Flush() // a terminal that went away changes no verdict
	fmt.Fprintln(out)
	for _, c := range r.Checks {
		if !c.Held {
			fmt.Fprintf(out, "FAILED  %s %s: %s\n", c.Workload, c.Name, c.Detail)
		}
	}
	for _, name := range r.Names() {
		if a := r.Workloads[name].AIPerf; a != nil {
			for _, f := range a.Findings {
				fmt.Fprintf(out, "AIPerf hides, %s: %s: %s\n", name, f.Code, f.Text)
			}
		}
	}
	for _, d := range r.Doubts {
		fmt.Fprintln(out, "doubt:", d)
	}
	held := 0
	for _, c := range r.Checks {
		if c.Held {
			held++
		}
	}
	fmt.Fprintf(out, "%d of %d checks held; status: %s\n", held, len(r.Checks), r.Status.Status)
}
