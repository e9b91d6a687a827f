package aiperf

import (
	"encoding/json"
	"fmt"
	"time"
)

// Summary is profile_export_aiperf.json. Its numbers are the client's own and are only ever compared with the rows.
type Summary struct {
	SchemaVersion    string
	AIPerfVersion    string
	BenchmarkID      string
	Start            time.Time // schedule zero rounded to microseconds; the file has no zone and means TZ, which Run sets to UTC
	End              time.Time
	WasCancelled     bool
	IsComplete       bool
	IncompleteReason string
	Errors           []ErrorCount
	Command          string // run_info.cli_command
	Endpoint         string // input_config.endpoint.type, e.g. chat, nim_rankings, video_generation
	Streaming        bool
	Inputs           []InputPhase
	Metrics          map[string]Statistic
}

// ErrorCount is one row of error_summary.
type ErrorCount struct {
	Error RowError `json:"error_details"`
	Count int64    `json:"count"`
}

// InputPhase is one phase of input_config. Requests is the row count of the file even when a window drops rows.
type InputPhase struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Type        string  `json:"type"`
	Requests    float64 `json:"requests"`
	Concurrency float64 `json:"concurrency"`
	Duration    float64 `json:"duration"`     // seconds; set: requests in flight at the end vanish
	GracePeriod float64 `json:"grace_period"` // seconds
}

// Statistic is one metric of the summary; percentiles are absent for totals.
type Statistic struct {
	Unit  string   `json:"unit"`
	Avg   float64  `json:"avg"`
	P50   *float64 `json:"p50"`
	P90   *float64 `json:"p90"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
	Count *float64 `json:"count"`
}

// Total returns a counter such as request_count, which counts successes, or error_request_count, which is absent
// when it is 0. The number of metric blocks in the file is no count of requests.
func (s *Summary) Total(tag string) (int64, bool) {
	m, ok := s.Metrics[tag]
	return int64(m.Avg), ok
}

// ParseSummary reads profile_export_aiperf.json.
func ParseSummary(data []byte) (*Summary, error) {
	var head struct {
		SchemaVersion string       `json:"schema_version"`
		Version       string       `json:"aiperf_version"`
		BenchmarkID   string       `json:"benchmark_id"`
		Start         string       `json:"start_time"`
		End           string       `json:"end_time"`
		Cancelled     bool         `json:"was_cancelled"`
		Complete      *bool        `json:"is_complete"`
		Reason        string       `json:"incomplete_reason"`
		ErrorSummary  []ErrorCount `json:"error_summary"`
		Run           struct {
			Command string `json:"cli_command"`
		} `json:"run_info"`
		Input struct {
			Endpoint struct {
				Type      string `json:"type"`
				Streaming bool   `json:"streaming"`
			} `json:"endpoint"`
			Phases []InputPhase `json:"phases"`
		} `json:"input_config"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("parse summary: %w", err)
	}
	s := &Summary{
		SchemaVersion: head.SchemaVersion, AIPerfVersion: head.Version, BenchmarkID: head.BenchmarkID,
		WasCancelled: head.Cancelled, IsComplete: head.Complete != nil && *head.Complete,
		IncompleteReason: head.Reason, Errors: head.ErrorSummary, Command: head.Run.Command,
		Endpoint: head.Input.Endpoint.Type, Streaming: head.Input.Endpoint.Streaming, Inputs: head.Input.Phases,
	}
	var err error
	if s.Start, err = naiveTime(head.Start); err != nil {
		return nil, fmt.Errorf("parse summary: start_time: %w", err)
	}
	if s.End, err = naiveTime(head.End); err != nil {
		return nil, fmt.Errorf("parse summary: end_time: %w", err)
	}
	s.Metrics, err = statistics(data)
	return s, err
}

// statistics picks the members that are metrics: objects with a unit and an average.
func statistics(data []byte) (map[string]Statistic, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("parse summary: %w", err)
	}
	out := make(map[string]Statistic)
	for name, raw := range members {
		var m struct {
			Statistic
			Avg *float64 `json:"avg"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Unit != "" && m.Avg != nil {
			m.Statistic.Avg = *m.Avg
			out[name] = m.Statistic
		}
	}
	return out, nil
}

func naiveTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse("2006-01-02T15:04:05.999999999", s)
}

// Manifest is phase_manifest.json, written only when there is a warm-up phase.
type Manifest struct {
	Schema int             `json:"schema_version"`
	Phases []ManifestPhase `json:"phases"`
}

// ManifestPhase is one phase of the manifest. Its counts leave lost requests out, as every export does.
type ManifestPhase struct {
	Name      string       `json:"phase_name"`
	Kind      Phase        `json:"phase_kind"`
	StartNS   int64        `json:"start_ns"`
	EndNS     int64        `json:"end_ns"`
	Total     int64        `json:"total_request_count"`
	Success   int64        `json:"successful_request_count"`
	Errors    int64        `json:"error_request_count"`
	Cancelled bool         `json:"was_cancelled"`
	Summary   []ErrorCount `json:"error_summary"`
}

// Phase returns the phase of a kind and whether the manifest has one.
func (m *Manifest) Phase(kind Phase) (ManifestPhase, bool) {
	for _, p := range m.Phases {
		if p.Kind == kind {
			return p, true
		}
	}
	return ManifestPhase{}, false
}

// Inputs is inputs.json: the request bodies as planned, for single_turn and synthetic data sets only.
type Inputs struct {
	Data []InputRow `json:"data"`
}

// InputRow holds the bodies of one conversation; SessionID is the conversation_id of its rows.
type InputRow struct {
	SessionID string            `json:"session_id"`
	Payloads  []json.RawMessage `json:"payloads"`
}

// Ready is .aiperf_results_ready.json, absent when every request failed.
type Ready struct {
	Ready     bool `json:"ready"`
	Cancelled bool `json:"was_cancelled"`
	Partial   bool `json:"partial"`
}

// serverMetrics is the part of server_metrics_export.json that is relied on.
type serverMetrics struct {
	Summary struct {
		Ranges map[Phase]struct {
			StartNS int64 `json:"start_ns"`
			EndNS   int64 `json:"end_ns"`
		} `json:"phase_time_ranges"`
	} `json:"summary"`
}
