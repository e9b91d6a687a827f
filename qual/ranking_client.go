package qual

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/trace"
)

// RankingClient sends a prepared ranking workload and keeps the answers.
type RankingClient struct {
	// Sender sends; it stays the caller's. Its KeepResponse must be set: without the answers there are no scores.
	Sender *trace.Sender
	// Progress is called after each settled request, one call at a time; nil means nobody asks.
	Progress func(phase trace.Phase, done, total int)
}

// Run sends the workload of dir: the warm-up in a closed loop first, then the measured requests as the manifest's load
// says. It writes one row for every request into client.jsonl. What the server does is in the rows; an error means
// that the workload could not be read, the run was cancelled or rows could not be written.
func (c *RankingClient) Run(ctx context.Context, dir string) (trace.Summary, error) {
	m, err := ReadRankingManifest(dir)
	if err != nil {
		return trace.Summary{}, err
	}
	if !c.Sender.KeepResponse {
		return trace.Summary{}, errors.New("ranking client: the sender does not keep responses")
	}
	warmup, err := trace.ReadWorkload(filepath.Join(dir, WarmupFile))
	if err != nil {
		return trace.Summary{}, err
	}
	measured, err := trace.ReadWorkload(filepath.Join(dir, WorkloadFile))
	if err != nil {
		return trace.Summary{}, err
	}
	f, err := os.Create(filepath.Join(dir, ClientFile))
	if err != nil {
		return trace.Summary{}, err
	}
	summary, err := c.send(ctx, m.Load, warmup, measured, trace.NewRowWriter(f).Append)
	if err := errors.Join(err, f.Close()); err != nil {
		return summary, fmt.Errorf("ranking client: %w", err)
	}
	return summary, nil
}

// send returns the summary of the measured phase. A cancelled warm-up still leaves a row for each measured request.
func (c *RankingClient) send(ctx context.Context, load Load, warmup, measured []trace.Item, sink func(trace.Row) error) (trace.Summary, error) {
	_, warmErr := c.replayer(trace.PhaseWarmup).RunClosed(ctx, warmup, trace.PhaseWarmup, load.Concurrency, sink)
	if warmErr != nil && ctx.Err() == nil {
		return trace.Summary{}, warmErr
	}
	r := c.replayer(trace.PhaseMeasured)
	if load.Loop == OpenLoop {
		return r.Run(ctx, measured, trace.PhaseMeasured, sink)
	}
	return r.RunClosed(ctx, measured, trace.PhaseMeasured, load.Concurrency, sink)
}

func (c *RankingClient) replayer(phase trace.Phase) *trace.Replayer {
	r := &trace.Replayer{Sender: c.Sender}
	if c.Progress != nil {
		r.Progress = func(done, total int) { c.Progress(phase, done, total) }
	}
	return r
}
