// Package reference is a CPU runtime behind the C ABI of TensorRT-Model-Connect, version 1.0, and the writer of its
// bundles. It lets everything above the ABI run, and be tested, on a machine without a GPU.
//
// What it computes is small but real: an interpolated 4-gram language model over texts in the public domain, BM25
// relevance, hashed-word embeddings, a procedural moving scene. Equal input, settings and seed give equal output; a
// negative seed is one fixed seed. Everything it makes says where it comes from: runtime_version starts with
// "trtmc-reference/", and the backend of its models is "reference".
//
// The C sources are linked into the program by cgo; [Entry] returns their entry point. The same sources, built in the
// module's root directory, are a shared library that exports trtmc_get_api and nothing else:
//
//	cc -O2 -fPIC -shared -DTRTMC_SHARED -fvisibility=hidden -Wl,-soname,libtrtmc_c.so.1 -o libtrtmc_c.so.1 native/reference/*.c -lm -lpthread
//
// Without cgo the package builds, [Entry] returns false, and bundles can still be written and read.
//
// # Tasks
//
// text_continuation, streaming_text_continuation, text_conversation, streaming_text_conversation,
// text_pair_to_relevance, text_query_documents_to_relevance, text_to_embedding, text_to_video and
// batch_text_to_video. There are no LoRA adapters and no loadable kernels. A conversation calls a tool when the last
// message, a user's, contains the tool's name; its arguments are the required properties of the tool's schema.
//
// # Bundles
//
// A bundle's header has backend "reference"; its section reference.json is one JSON object, read strictly:
//
//	family, bundle_task      strings, as in the header
//	tasks                    list of Task ids
//	fields                   list of {"name", "kind", "default", "description"}: the settings that requests may set
//	timing                   {"setup_ms", "prefill_us_per_token", "decode_us_per_token", "document_us", "step_ms", "frame_ms"}
//	text                     {"context_tokens", "default_max_new_tokens", "max_new_tokens"}
//	relevance                {"max_document_tokens"}
//	embedding                {"dimensions"}
//	video                    {"width", "height", "frames", "steps", "guidance_scale", "fps", "max_pixels"}
//	fault                    {"kind", "message", "after_tokens", "every", "ms"}
//
// The settings that mean something are those of [AllParams]; a bundle may leave out any, and give them other defaults.
// A field belongs to each declared Task that understands it. Sizes missing from a required object, unknown keys and
// unknown fields keep the model from loading. [Params] and its presets write such bundles.
//
// Timing models the work of a GPU: a call lasts as long as its setup, prompt tokens, new tokens, documents, steps and
// frames say, kept by sleeping until an absolute instant of CLOCK_MONOTONIC; a stream's sleep ends when it is
// cancelled. The times that results report are the ones that really passed.
//
// # Faults
//
// A bundle can show one fault; [FaultKind] lists them. Faults of the function tables are chosen when the shared
// library is compiled, by adding to the command above
//
//	-DTRTMC_FAULT_MAJOR=2         the core table says major 2
//	-DTRTMC_FAULT_MINOR=1         the core table says minor 1
//	-DTRTMC_FAULT_SHORT=8         the core table's byte_size is 8 too small
//	-DTRTMC_FAULT_LONG=8          every table's byte_size is 8 too large
//	-DTRTMC_FAULT_NULL_SLOT=name  the core table's function name is NULL
//	-DTRTMC_FAULT_TASK_MAJOR=2    the Task tables say major 2
//	-DTRTMC_FAULT_TASK_SHORT=8    the Task tables' byte_size is 8 too small
//	-DTRTMC_FAULT_STREAM_SHORT=8  the stream tables' byte_size is 8 too small
//	-DTRTMC_FAULT_NULL_RUN        run of text_continuation is NULL
//	-DTRTMC_FAULT_NO_API          trtmc_get_api answers OK with a NULL table
//	-DTRTMC_FAULT_NO_SYMBOL       trtmc_get_api is not exported
//
// [SetHook] observes the calls of the embedded runtime and injects faults into them; [LiveHandles] counts its objects.
//
// # Threads
//
// Calls on one model run one after another; calls on different models overlap. While a stream of a model lives, other
// calls on it answer BUSY. A stream has one producer thread, which blocks all signals.
package reference
