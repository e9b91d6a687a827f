package trace

import (
	"fmt"
)

// FitPolicy is what is done with rows that are too long for the bundle. Whatever it does is in the manifest.
type FitPolicy string

// The policies.
const (
	// FitNone sends rows as they are; the server refuses what does not fit.
	FitNone FitPolicy = "none"
	// FitDrop leaves out rows that do not fit, each listed with its line.
	FitDrop FitPolicy = "drop"
	// FitClamp bounds the output (by MaxOutputTokens, else half of the context) and cuts the end of the input.
	FitClamp FitPolicy = "clamp"
	// FitScale multiplies input and output of every row by one factor, so that the largest row of the window fits. The
	// shape of the load stays, and shared prefixes stay shared.
	FitScale FitPolicy = "scale"
)

// Fit is how rows are made to fit.
type Fit struct {
	Policy FitPolicy // "" means FitNone
	// ContextTokens is the bundle's limit for input and output together; needed by all policies but none.
	ContextTokens int
	// MaxOutputTokens is the bundle's limit for the output; 0 means none but the context.
	MaxOutputTokens int
	// ReserveTokens are kept free of the context, for chat templates and for words that become two tokens.
	ReserveTokens int
}

// room is how many tokens a row may have.
func (f Fit) room() int { return f.ContextTokens - f.ReserveTokens }

func (f Fit) check() error {
	switch f.Policy {
	case "", FitNone:
		return nil
	case FitDrop, FitClamp, FitScale:
	default:
		return fmt.Errorf("fit %q: want none, drop, clamp or scale", f.Policy)
	}
	switch {
	case f.ReserveTokens < 0 || f.MaxOutputTokens < 0:
		return fmt.Errorf("fit %q: reserve %d and output limit %d must not be negative", f.Policy, f.ReserveTokens, f.MaxOutputTokens)
	case f.room() < 2:
		return fmt.Errorf("fit %q: context of %d tokens with %d reserved; want 2 or more left, one in and one out",
			f.Policy, f.ContextTokens, f.ReserveTokens)
	}
	return nil
}

// factor returns the ratio by which FitScale multiplies the rows.
func (f Fit) factor(rows []*Request) ratio {
	var by ratio
	if f.Policy != FitScale {
		return by
	}
	for _, r := range rows {
		if r.Kind != LiteralNone {
			continue
		}
		if all := (ratio{f.room(), r.InputTokens + max(r.OutputTokens, 1)}); all.less(by) {
			by = all
		}
		if out := (ratio{f.MaxOutputTokens, r.OutputTokens}); f.MaxOutputTokens > 0 && r.OutputTokens > 0 && out.less(by) {
			by = out
		}
	}
	return by
}

// row returns the lengths that are asked for, or why the row is dropped. An output of 0 is unknown and stays so.
func (f Fit) row(in, out int, by ratio) (fitIn, fitOut int, dropped string) {
	switch f.Policy {
	case FitDrop:
		if in+max(out, 1) > f.room() {
			return 0, 0, fmt.Sprintf("input %d and output %d do not fit %d tokens", in, out, f.room())
		}
		if f.MaxOutputTokens > 0 && out > f.MaxOutputTokens {
			return 0, 0, fmt.Sprintf("output %d is above the limit of %d", out, f.MaxOutputTokens)
		}
	case FitClamp:
		limit := f.room() / 2
		if f.MaxOutputTokens > 0 {
			limit = min(f.MaxOutputTokens, f.room()-1)
		}
		out = min(out, limit)
		in = min(in, f.room()-max(out, 1))
	case FitScale:
		in = max(by.of(in), 1)
		if out > 0 {
			out = max(by.of(out), 1)
		}
	}
	return in, out, ""
}
