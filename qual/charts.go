package qual

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
)

// charts returns the charts of a workload, and in words why others would have been empty.
func (w WorkloadReport) charts() (charts []*chart, remarks []string) {
	for _, make := range []func() (*chart, string){
		w.rateChart, w.passageChart, w.queueChart, w.refusalChart, w.latenessChart, w.clientChart, w.taskChart,
	} {
		c, remark := make()
		switch {
		case c == nil && remark != "":
			remarks = append(remarks, remark)
		case c != nil && slices.ContainsFunc(c.lines, func(l chartLine) bool { return len(l.points) > 0 }):
			charts = append(charts, c)
		case c != nil:
			remarks = append(remarks, c.Title+": "+remark)
		}
	}
	return charts, remarks
}

// fewestWindows is from how many windows on counts over time are drawn: one or two would show the window's edges.
const fewestWindows = 3

// tooShort says why there is no chart over time.
func tooShort(title string, seconds int) string {
	return fmt.Sprintf("%s over time: the requests span fewer than %d windows of %d s; the rates are in the table.", title, fewestWindows, seconds)
}

func (s Series) xAxis() string {
	return fmt.Sprintf("time from the start, s (windows of %d s)", s.WindowSeconds)
}

func (w WorkloadReport) rateChart() (*chart, string) {
	s, seconds := w.OverTime, float64(w.OverTime.WindowSeconds)
	c := &chart{Title: "Offered, arrived, completed", x: s.xAxis(), y: "requests per second", zero: true, times: true}
	offered := perWindow(s.Scheduled, s.WindowSeconds, seconds)
	name := "offered, as scheduled"
	if w.Lateness.Send.Samples == 0 {
		name, c.Title = "taken up by the client", "Taken up, arrived, completed"
		c.Remark = "Closed loop: nothing is due at an instant."
	}
	if len(s.Scheduled) < fewestWindows {
		return nil, tooShort(c.Title, s.WindowSeconds)
	}
	c.lines = []chartLine{
		{name, offered}, {"arrived at the server", perWindow(s.Arrived, s.WindowSeconds, seconds)},
		{"completed", perWindow(s.Completed, s.WindowSeconds, seconds)},
	}
	return c, "no request."
}

func (w WorkloadReport) passageChart() (*chart, string) {
	if w.Ranking == nil {
		return nil, ""
	}
	r := w.Ranking
	if len(r.PassagesOverTime) < fewestWindows {
		return nil, tooShort("Passages scored", r.WindowSeconds)
	}
	return &chart{
		Title: "Passages scored", x: fmt.Sprintf("time from the first sending, s (windows of %d s)", r.WindowSeconds), y: "passages per second", zero: true, times: true,
		lines: []chartLine{{"completed", perWindow(r.PassagesOverTime, r.WindowSeconds, float64(r.WindowSeconds))}},
	}, "no passage was scored."
}

func (w WorkloadReport) queueChart() (*chart, string) {
	s := w.OverTime
	return &chart{
		Title: "Queue met on arrival", x: s.xAxis(), y: "requests waiting, deepest", zero: true, whole: true, times: true,
		lines: []chartLine{{"deepest in the window", perWindow(s.QueueMax, s.WindowSeconds, 1)}},
	}, "no request met another one waiting."
}

func (w WorkloadReport) refusalChart() (*chart, string) {
	s := w.OverTime
	return &chart{
		Title: "429s, refusals and failures", x: s.xAxis(), y: "requests in a window", zero: true, whole: true, times: true,
		lines: []chartLine{
			{"status 429", perWindow(s.TooMany, s.WindowSeconds, 1)}, {"refused", perWindow(s.Rejected, s.WindowSeconds, 1)},
			{"failed", perWindow(s.Failed, s.WindowSeconds, 1)},
		},
	}, "none."
}

func (w WorkloadReport) latenessChart() (*chart, string) {
	if w.Lateness.Send.Samples == 0 {
		return nil, ""
	}
	return shareChart("Lateness against the schedule", "lateness, ms",
		named{"at sending", w.Lateness.Send}, named{"at the server's arrival", w.Lateness.Arrival}), "too few samples."
}

func (w WorkloadReport) clientChart() (*chart, string) {
	return shareChart("Client latency, completed", "time from sending, ms",
		named{"to the last byte", w.Client.Latency}, named{"to the first content", w.Client.FirstContent}), "too few samples."
}

func (w WorkloadReport) taskChart() (*chart, string) {
	c := shareChart("Task call at the server, completed", "time, ms", named{"Task call", w.Server.TaskCall})
	if w.Ranking != nil {
		c = shareChart(c.Title, "time, ms", named{"Task call", w.Server.TaskCall}, named{"direct Task call", w.Ranking.DirectCall})
	}
	c.Remark += " Measured at the server round the native call alone; not to be subtracted from client latency."
	return c, "too few samples."
}

// named is a distribution with its name.
type named struct {
	name string
	d    Distribution
}

// shareChart shows which share of the samples is at most so large.
func shareChart(title, axis string, all ...named) *chart {
	c := &chart{Title: title, x: axis, y: "share at most so large, %", zero: true}
	low, high := 0.0, 0.0
	var samples []string
	for i, n := range all {
		line := chartLine{name: n.name}
		for k, v := range n.d.Curve {
			line.points = append(line.points, plotter.XY{X: float64(v), Y: share(k-1, len(n.d.Curve))}, plotter.XY{X: float64(v), Y: share(k, len(n.d.Curve))})
		}
		c.lines = append(c.lines, line)
		if len(line.points) == 0 {
			continue
		}
		first, last := line.points[0].X, line.points[len(line.points)-1].X
		if i == 0 || first < low {
			low = first
		}
		high = max(high, last)
		samples = append(samples, fmt.Sprintf("%s: %d", n.name, n.d.Samples))
	}
	c.log = low > 0 && high > 20*low
	if c.log {
		c.x += " (logarithmic)"
	}
	c.Remark = "Samples: " + strings.Join(samples, ", ") + "."
	return c
}
