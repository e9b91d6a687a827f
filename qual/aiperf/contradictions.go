package aiperf

import "fmt"

// lostRows compares the rows with what was offered: requests in flight when the client stops leave no row anywhere,
// and no count of the client's includes them.
func (e *Export) lostRows(f *findings, facts Facts) {
	var lost, extra []string
	for id, want := range facts.Offered {
		if have := e.Rows.conversations[id]; have < want {
			lost = append(lost, id)
		}
	}
	for id, have := range e.Rows.conversations {
		if facts.Offered != nil && have > facts.Offered[id] {
			extra = append(extra, id)
		}
	}
	f.ids(true, "rows-lost", lost, "%d conversations have fewer measured rows than were offered: their requests are in no export")
	f.ids(true, "rows-extra", extra, "%d conversations have more measured rows than were offered")
	if facts.Offered != nil && e.Rows.Warmup.Rows != facts.Warmup {
		f.add(true, "warmup-count", "%d warm-up rows, %d were asked for", e.Rows.Warmup.Rows, facts.Warmup)
	}
	if log, err := e.Log(); err == nil && log.Cancelled > 0 {
		f.add(true, "dropped-in-flight", "the client's log says that %d of %d requests were dropped while in flight; they have no row", log.Cancelled, log.Expected)
	}
	if e.Summary == nil {
		return
	}
	for _, p := range e.Summary.Inputs {
		if p.Duration > 0 {
			f.add(false, "duration-limit", "the phase %s was limited to %g s and %g s of grace: requests in flight at its end leave no row", p.Name, p.Duration, p.GracePeriod)
		}
		if p.Type == "fixed_schedule" && p.Concurrency > 0 {
			f.add(false, "closed-loop", "the phase %s was limited to %g requests at once: the schedule could be delayed without a trace", p.Name, p.Concurrency)
		}
	}
}

// counts compares the client's own totals with its rows. The rows win.
func (e *Export) counts(f *findings) {
	m := e.Rows.Measured
	compare := func(where, what string, said int64, rows int) {
		if said != int64(rows) {
			f.add(true, "count-mismatch", "%s says %d %s, the rows show %d", where, said, what, rows)
		}
	}
	if s := e.Summary; s != nil {
		success, _ := s.Total("request_count")
		compare(SummaryFile, "successes (request_count)", success, m.Success)
		failed, _ := s.Total("error_request_count")
		compare(SummaryFile, "errors (error_request_count)", failed, m.Unsuccessful())
		if all, ok := s.Total("completed_request_count"); ok {
			compare(SummaryFile, "requests (completed_request_count)", all, m.Rows)
		}
		var listed int64
		for _, g := range s.Errors {
			listed += g.Count
		}
		compare(SummaryFile, "errors (error_summary)", listed, m.Unsuccessful())
	}
	if e.Manifest == nil {
		return
	}
	for _, p := range e.Manifest.Phases {
		rows := m
		if p.Kind == Warmup {
			rows = e.Rows.Warmup
		}
		where := fmt.Sprintf("%s (%s)", ManifestFile, p.Name)
		compare(where, "requests", p.Total, rows.Rows)
		compare(where, "successes", p.Success, rows.Success)
		compare(where, "errors", p.Errors, rows.Unsuccessful())
	}
}

// timing lists where the client's instants and durations are not what their names say.
func (e *Export) timing(f *findings) {
	t := &e.Rows
	f.ids(true, "time-backwards", t.Backwards, "%d rows end before they start: the wall clock was stepped; they are in no statistic")
	f.ids(false, "zero-duration", t.ZeroDuration, "%d answers other than 2xx have a duration of exactly 0: take their latency from the server's records")
	f.ids(false, "early-end", t.EarlyEnd, "%d failures end at the last event before the failure (for video: at the answer to the submit), not at the failure")
	f.ids(false, "start-is-end", t.Shifted, "%d rows carry the end of the request as its start: place them by credit and by server arrival")
	f.ids(false, "late-start", t.LateStart, "%d requests left more than "+LateStart.String()+" after a credit that was on time")
	zero, against, err := e.ScheduleZero()
	if err != nil {
		f.add(false, "zero-unknown", "%v: the lateness of the replay cannot be computed", err)
		return
	}
	for _, text := range against {
		f.add(true, "zero-contradicted", "the start of the schedule: %s", text)
	}
	if zero.Resolution > 0 {
		f.add(false, "zero-rounded", "the start of the schedule is known from %s only, to %v", zero.Source, zero.Resolution)
	}
	if e.Endpoint() == "nim_rankings" {
		f.add(false, "tokens-unknown", "the client counts no input tokens for rankings")
	}
}
