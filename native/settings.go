package native

import (
	"math"
	"time"

	"github.com/trtmc-go/trtmc/native/internal/cabi"
	"github.com/trtmc-go/trtmc/native/task"
)

// settingsIn appends the settings to dst in their native form.
func settingsIn(dst []cabi.Setting, settings task.Settings) []cabi.Setting {
	for _, s := range settings {
		dst = append(dst, cabi.Setting{Name: s.Name, Value: valueIn(s.Value)})
	}
	return dst
}

// callSettings is settingsIn into memory of the handle; only inside the lane.
func (h *handle) callSettings(settings task.Settings) []cabi.Setting {
	h.settings = settingsIn(h.settings[:0], settings)
	return h.settings
}

func valueIn(v task.Value) cabi.Value {
	out := cabi.Value{Kind: uint32(v.Kind())}
	switch v.Kind() {
	case task.KindInt:
		out.Int = v.Int()
	case task.KindFloat:
		out.Float = v.Float()
	case task.KindBool:
		out.Bool = v.Bool()
	case task.KindString:
		out.String = v.Str()
	case task.KindInts:
		out.Ints = v.Ints()
	case task.KindFloats:
		out.Floats = v.Floats()
	case task.KindStrings:
		out.Strings = v.Strings()
	}
	return out
}

func valueOut(v cabi.Value) task.Value {
	switch v.Kind {
	case cabi.KindInt:
		return task.Int(v.Int)
	case cabi.KindFloat:
		return task.Float(v.Float)
	case cabi.KindBool:
		return task.Bool(v.Bool)
	case cabi.KindString:
		return task.String(v.String)
	case cabi.KindInts:
		return task.Ints(v.Ints...)
	case cabi.KindFloats:
		return task.Floats(v.Floats...)
	case cabi.KindStrings:
		return task.Strings(v.Strings...)
	}
	return task.Value{}
}

func infoOut(r *Runtime, in cabi.ModelInfo) task.Info {
	out := task.Info{
		Runtime: r.Version(), Reference: r.Reference(), Family: in.Family, Backend: in.Backend, BundleTask: in.BundleTask,
	}
	for _, t := range in.Tasks {
		d := task.Decl{ID: task.ID(t.ID), Major: t.Major, Minor: t.Minor}
		for _, f := range t.Fields {
			d.Fields = append(d.Fields, task.Field{
				Name: f.Name, Kind: task.Kind(f.Kind), Default: valueOut(f.Default), Description: f.Description,
			})
		}
		out.Tasks = append(out.Tasks, d)
	}
	return out
}

// phase converts milliseconds as a model reports them; what no phase can last counts as not measured.
func phase(ms float64) time.Duration {
	if !(ms > 0) || ms > math.MaxInt64/float64(time.Millisecond) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func timing(s cabi.Span, setup, prefill, decode float64) task.Timing {
	return task.Timing{Start: s.Start, Call: s.Wall, Setup: phase(setup), Prefill: phase(prefill), Decode: phase(decode)}
}
