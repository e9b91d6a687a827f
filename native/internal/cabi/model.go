package cabi

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Model is one native model handle with the frame and arena of its calls. It serves one call at a time.
type Model struct {
	lib    *Library
	frame  *C.cabi_frame
	arena  arena
	info   ModelInfo
	tables map[string]table
}

// table is the checked table of one Task, or why there is none.
type table struct {
	header *C.trtmc_api_header
	err    error
}

// maxEntries bounds the Tasks of a model and the fields of a Task; more than this is a runtime gone wrong.
const maxEntries = 4096

func (l *Library) frame() *C.cabi_frame {
	f := (*C.cabi_frame)(block(C.sizeof_cabi_frame))
	f.core = l.core
	return f
}

// Load loads the bundle at path and takes a copy of all that the model says of itself.
func (l *Library) Load(path string, o LoadOptions) (*Model, error) {
	m := &Model{lib: l, frame: l.frame(), tables: map[string]table{}}
	opts := &array[C.trtmc_load_options_v1](&m.arena, 1)[0]
	*opts = C.trtmc_load_options_v1{
		struct_size:         C.sizeof_trtmc_load_options_v1,
		runtime_root:        m.arena.text(o.RuntimeRoot),
		kv_cache_size_bytes: C.uint64_t(o.KVCacheBytes),
		runtime_cache_path:  m.arena.text(o.RuntimeCachePath),
	}
	if o.CUDAGraphs {
		opts.cuda_graphs = 1
	}
	C.cabi_model_load(m.frame, m.arena.text(path), opts)
	err := m.status("load")
	if err == nil {
		err = m.describe()
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Info returns what the model says of itself. The caller must not change the slices.
func (m *Model) Info() ModelInfo { return m.info }

// Close releases the model. Videos and other results outlive it. A second Close does nothing.
func (m *Model) Close() {
	if m.frame == nil {
		return
	}
	C.cabi_drop(m.frame)
	if m.frame.model != nil {
		C.cabi_model_release(m.lib.core, m.frame.model)
	}
	m.arena.free()
	C.cabi_block_free(unsafe.Pointer(m.frame))
	m.frame = nil
}

// Check returns nil when calls on a declared Task can be made, else why not.
func (m *Model) Check(id string) error { return m.tables[id].err }

// LoRA returns nil when the model offers the adapter table of version 1.0.
func (m *Model) LoRA() error {
	m.arena.reset()
	C.cabi_model_get_lora_api(m.frame)
	if err := m.status("get lora table"); err != nil {
		return err
	}
	return checkTable("lora table", m.frame.api, C.sizeof_trtmc_lora_api_v1)
}

func (m *Model) describe() error {
	f := m.frame
	C.cabi_model_info(f)
	if err := m.status("model info"); err != nil {
		return err
	}
	m.info = ModelInfo{
		Family: nameOut(f.model_info.family), Backend: nameOut(f.model_info.backend), BundleTask: nameOut(f.model_info.bundle_task),
	}
	C.cabi_model_task_count(f)
	if err := m.status("task count"); err != nil {
		return err
	}
	if f.count > maxEntries {
		return broken("task count", "the model declares %d tasks", uint64(f.count))
	}
	for i := range f.count {
		f.index = i
		C.cabi_model_task_info(f)
		if err := m.status("task info"); err != nil {
			return err
		}
		t := TaskInfo{ID: nameOut(f.task_info.id), Major: uint32(f.task_info.major), Minor: uint32(f.task_info.minor)}
		if err := m.fields(&t); err != nil {
			return err
		}
		m.info.Tasks = append(m.info.Tasks, t)
		m.tables[t.ID] = m.table(t)
	}
	return nil
}

// fields reads the settings of a Task. A Task of a version that is not known here is listed without them.
func (m *Model) fields(t *TaskInfo) error {
	f := m.frame
	if t.Major != 1 || t.Minor != 0 {
		return nil
	}
	m.arena.reset()
	id := m.arena.text(t.ID)
	major, minor := C.uint32_t(t.Major), C.uint32_t(t.Minor)
	C.cabi_config_field_count(f, id, major, minor)
	if err := m.status("field count of " + t.ID); err != nil {
		return err
	}
	if f.count > maxEntries {
		return broken("field count of "+t.ID, "the task declares %d fields", uint64(f.count))
	}
	count := f.count
	for i := range count {
		f.index = i
		C.cabi_config_field_info(f, id, major, minor)
		if err := m.status("field info of " + t.ID); err != nil {
			return err
		}
		field := Field{Name: nameOut(f.field.name), Kind: uint32(f.field.kind), Description: nameOut(f.field.description)}
		if f.field.has_fixed_default != 0 {
			var err error
			if field.Default, err = valueOut("field info of "+t.ID+" "+field.Name, &f.field.default_value); err != nil {
				return err
			}
		}
		t.Fields = append(t.Fields, field)
	}
	return nil
}

// table takes and checks the table of a Task that is known here; a fault in it concerns that Task alone.
func (m *Model) table(t TaskInfo) table {
	size, known := tableSizes()[t.ID]
	if !known {
		return table{}
	}
	what := "table of task " + t.ID
	if t.Major != 1 || t.Minor != 0 {
		return table{err: &VersionError{What: what, Want: wantVersion, Got: fmt.Sprintf("version %d.%d", t.Major, t.Minor)}}
	}
	m.arena.reset()
	C.cabi_model_get_task_api(m.frame, m.arena.text(t.ID), 1, 0)
	if err := m.status("get task table"); err != nil {
		return table{err: err}
	}
	h := m.frame.api
	if err := checkTable(what, h, size); err != nil {
		return table{err: err}
	}
	if err := checkStreamTable(t.ID, h); err != nil {
		return table{err: err}
	}
	return table{header: h}
}

func tableSizes() map[string]C.uint64_t {
	return map[string]C.uint64_t{
		"text_continuation":                 C.sizeof_trtmc_text_continuation_api_v1,
		"streaming_text_continuation":       C.sizeof_trtmc_streaming_text_continuation_api_v1,
		"text_conversation":                 C.sizeof_trtmc_text_conversation_api_v1,
		"streaming_text_conversation":       C.sizeof_trtmc_streaming_text_conversation_api_v1,
		"text_pair_to_relevance":            C.sizeof_trtmc_text_pair_to_relevance_api_v1,
		"text_query_documents_to_relevance": C.sizeof_trtmc_text_query_documents_to_relevance_api_v1,
		"text_to_embedding":                 C.sizeof_trtmc_text_to_embedding_api_v1,
		"text_to_video":                     C.sizeof_trtmc_text_to_video_api_v1,
		"batch_text_to_video":               C.sizeof_trtmc_batch_text_to_video_api_v1,
	}
}

// checkStreamTable checks the second table that a streaming Task points to, by itself.
func checkStreamTable(id string, h *C.trtmc_api_header) error {
	var inner *C.trtmc_api_header
	size := C.uint64_t(C.sizeof_trtmc_text_stream_api_v1)
	switch id {
	case "streaming_text_continuation":
		if api := (*C.trtmc_streaming_text_continuation_api_v1)(unsafe.Pointer(h)).stream_api; api != nil {
			inner = &api.header
		}
	case "streaming_text_conversation":
		size = C.sizeof_trtmc_conversation_stream_api_v1
		if api := (*C.trtmc_streaming_text_conversation_api_v1)(unsafe.Pointer(h)).stream_api; api != nil {
			inner = &api.header
		}
	default:
		return nil
	}
	if inner == nil {
		return &MissingError{Op: "get task table", Function: "stream_api"}
	}
	return checkTable("stream table of task "+id, inner, size)
}

// begin makes the frame ready for a call on a Task.
func (m *Model) begin(id string) (*C.cabi_frame, error) {
	t := m.tables[id]
	if t.err != nil {
		return nil, t.err
	}
	if t.header == nil {
		return nil, &CallError{Op: "get task table", Status: StatusUnsupported, Message: "the model does not declare this task"}
	}
	m.arena.reset()
	m.frame.api = t.header
	m.frame.config = nil
	return m.frame, nil
}

// status turns the frame's outcome into an error; nil when the call went well.
func (m *Model) status(op string) error { return frameError(m.frame, op) }

func frameError(f *C.cabi_frame, op string) error {
	if f.status == C.TRTMC_OK {
		return nil
	}
	text := string(unsafe.Slice((*byte)(unsafe.Pointer(&f.message[0])), int(f.message_size)))
	if f.stage == C.CABI_STAGE_VIEW {
		op += " (result view)"
	}
	switch f.status {
	case C.CABI_MISSING:
		return &MissingError{Op: op, Function: text}
	case C.CABI_NO_RESULT:
		return broken(op, "the runtime reported success and gave no result")
	}
	return &CallError{Op: op, Status: int32(f.status), Message: clean(text, C.CABI_MESSAGE_CAP)}
}
