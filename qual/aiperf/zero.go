package aiperf

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Zero is the instant from which the timestamps of a fixed schedule are counted: the start of the measured phase.
type Zero struct {
	UnixNS int64  // client's wall clock
	Source string // the file it was taken from
	// Resolution is how far UnixNS may lie from the true instant: 0, or 1 µs when only the summary has it.
	Resolution time.Duration
}

// At returns when a row was to be sent, in Unix nanoseconds. offset is the row's timestamp less the smallest one of
// the file (or less the start offset given to the client). The client's timers have a resolution of 1 ms: credits come
// up to 1.4 ms early.
func (z Zero) At(offset time.Duration) int64 { return z.UnixNS + int64(offset) }

// ScheduleZero recovers the zero. Exact sources come first: the phase manifest (only with warm-up), the server
// metrics (only when scraped), the client's log (also when every request failed); the summary's start_time is
// rounded to microseconds. The second result lists sources that contradict the one taken. It returns ErrNoZero when
// no source is there.
func (e *Export) ScheduleZero() (Zero, []string, error) {
	var all []Zero
	if e.Manifest != nil {
		if p, ok := e.Manifest.Phase(Measured); ok {
			all = append(all, Zero{UnixNS: p.StartNS, Source: ManifestFile})
		}
	}
	scraped, err := e.metricsZero()
	if err != nil {
		return Zero{}, nil, fmt.Errorf("schedule zero: %w", err)
	}
	logged, err := e.Log()
	if err != nil {
		return Zero{}, nil, fmt.Errorf("schedule zero: %w", err)
	}
	all = append(all, Zero{UnixNS: scraped, Source: MetricsFile}, Zero{UnixNS: logged.StartNS, Source: LogFile})
	if e.Summary != nil && !e.Summary.Start.IsZero() {
		all = append(all, Zero{UnixNS: e.Summary.Start.UnixNano(), Source: SummaryFile, Resolution: time.Microsecond})
	}
	var zero Zero
	var against []string
	for _, z := range all {
		switch {
		case z.UnixNS <= 0:
		case zero.UnixNS == 0:
			zero = z
		case time.Duration(zero.UnixNS-z.UnixNS).Abs() > z.Resolution:
			against = append(against, fmt.Sprintf("%s says %d, %s says %d", zero.Source, zero.UnixNS, z.Source, z.UnixNS))
		}
	}
	if zero.UnixNS == 0 {
		return Zero{}, nil, ErrNoZero
	}
	return zero, against, nil
}

func (e *Export) metricsZero() (int64, error) {
	data, err := os.ReadFile(filepath.Join(e.Dir, MetricsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var m *serverMetrics
	if unmarshal(data, &m) != nil {
		return 0, nil // another source will do; the file is not part of what a run must leave
	}
	return m.Summary.Ranges[Measured].StartNS, nil
}

// LogPhase is what the client's log says of the measured phase when its credits were used up. Counts are -1 when the
// log does not say.
type LogPhase struct {
	StartNS      int64
	Expected     int64 // requests of the schedule
	Completed    int64
	Cancelled    int64 // in flight at the end: they have no row in any export
	GraceExpired bool  // the grace period ended before they did
}

// logField matches name=value in the log's account of a phase.
var logField = regexp.MustCompile(`\b(start_ns|total_expected_requests|final_requests_completed|final_requests_cancelled|grace_period_timeout_triggered)=(\w+)`)

// Log reads logs/aiperf.log. The zero LogPhase, with counts of -1, is returned when there is no log or it does not
// tell.
func (e *Export) Log() (LogPhase, error) {
	out := LogPhase{Expected: -1, Completed: -1, Cancelled: -1}
	f, err := os.Open(filepath.Join(e.Dir, filepath.FromSlash(LogFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, "CREDIT_PHASE_COMPLETE") && strings.Contains(line, "phase_kind='profiling'") {
			out.take(line)
		}
		if err != nil {
			return out, nil // the log is a second source; its end is its end
		}
	}
}

func (p *LogPhase) take(line string) {
	for _, m := range logField.FindAllStringSubmatch(line, -1) {
		n, err := strconv.ParseInt(m[2], 10, 64)
		switch {
		case m[1] == "grace_period_timeout_triggered":
			p.GraceExpired = m[2] == "True"
		case err != nil: // None
		case m[1] == "start_ns":
			p.StartNS = n
		case m[1] == "total_expected_requests":
			p.Expected = n
		case m[1] == "final_requests_completed":
			p.Completed = n
		case m[1] == "final_requests_cancelled":
			p.Cancelled = n
		}
	}
}
