package cabi

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// ContinueText makes one text_continuation call. It returns when the native call has ended.
func (m *Model) ContinueText(req TextRequest) (TextResult, error) {
	const op = "run"
	f, err := m.begin("text_continuation")
	if err != nil {
		return TextResult{}, err
	}
	m.textIn(f, &req)
	start := time.Now()
	C.cabi_text_run(f)
	wall := time.Since(start)
	if err := m.status(op); err != nil {
		return TextResult{}, err
	}
	defer C.cabi_drop(f)
	out, err := textOut(op, &f.text_out)
	out.Span = Span{start, wall}
	return out, err
}

func (m *Model) textIn(f *C.cabi_frame, req *TextRequest) {
	in := &f.text_in.prefix
	as := unsafe.Pointer(&in.as)
	if req.Tokens {
		in.kind = C.TRTMC_TEXT_TOKEN_IDS
		p, n := copied(&m.arena, req.TokenIDs)
		*(*C.trtmc_i32_view)(as) = C.trtmc_i32_view{data: (*C.int32_t)(p), size: n}
	} else {
		in.kind = C.TRTMC_TEXT_UTF8
		*(*C.trtmc_string_view)(as) = m.arena.text(req.Text)
	}
	f.config = m.arena.config(req.Settings)
}

func textOut(op string, v *C.trtmc_text_result_view_v1) (out TextResult, err error) {
	if out.Text, err = stringOut(op, "text", v.text); err != nil {
		return TextResult{}, err
	}
	if out.TokenIDs, err = copyOut[int32](op, "token_ids", v.token_ids.data, v.token_ids.size); err != nil {
		return TextResult{}, err
	}
	out.SetupMS, out.PrefillMS, out.DecodeMS = float64(v.setup_ms), float64(v.prefill_ms), float64(v.decode_ms)
	return out, nil
}
