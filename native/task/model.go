package task

import "fmt"

// ID names a Task as the native runtime does.
type ID string

// The Tasks this module knows, by their native names.
const (
	TextContinuation              ID = "text_continuation"
	StreamingTextContinuation     ID = "streaming_text_continuation"
	TextConversation              ID = "text_conversation"
	StreamingTextConversation     ID = "streaming_text_conversation"
	TextPairToRelevance           ID = "text_pair_to_relevance"
	TextQueryDocumentsToRelevance ID = "text_query_documents_to_relevance"
	TextToEmbedding               ID = "text_to_embedding"
	TextToVideo                   ID = "text_to_video"
	BatchTextToVideo              ID = "batch_text_to_video"
)

// Field describes one setting that a Task declares.
type Field struct {
	Name        string
	Kind        Kind
	Default     Value // KindNone: the model computes its default from context
	Description string
}

// Decl is one Task that a model declares.
type Decl struct {
	ID     ID
	Major  uint32
	Minor  uint32
	Fields []Field
}

// Field returns the declared field of that name and whether there is one.
func (d Decl) Field(name string) (Field, bool) {
	for _, f := range d.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Info says what a model is. It is a copy: it stays valid after Close.
type Info struct {
	Runtime    string // version text of the runtime that loaded the model
	Reference  bool   // true for the CPU reference runtime: nothing it produces can be called qualified
	Family     string
	Backend    string
	BundleTask string // the bundle's own word for its task, e.g. text_generation; not a Task ID
	Tasks      []Decl // in the order the model declares them
}

// Decl returns the declaration of a Task and whether the model declares it.
func (i Info) Decl(id ID) (Decl, bool) {
	for _, d := range i.Tasks {
		if d.ID == id {
			return d, true
		}
	}
	return Decl{}, false
}

// Model is one loaded model handle: one execution lane.
//
// All methods are safe for concurrent use. Close is idempotent, waits for calls in flight, and makes later calls
// return ErrClosed. Lookup returns the implementation of a Task, or an error that wraps ErrUnsupported when the model
// does not declare it; use the typed functions (TextContinuerOf and so on) rather than Lookup itself.
type Model interface {
	Info() Info
	Lookup(id ID) (any, error)
	Close() error
}

// TextContinuerOf looks up text_continuation.
func TextContinuerOf(m Model) (TextContinuer, error) {
	return lookup[TextContinuer](m, TextContinuation)
}

// TextStreamerOf looks up streaming_text_continuation.
func TextStreamerOf(m Model) (TextStreamer, error) {
	return lookup[TextStreamer](m, StreamingTextContinuation)
}

// ConverserOf looks up text_conversation.
func ConverserOf(m Model) (Converser, error) { return lookup[Converser](m, TextConversation) }

// ConversationStreamerOf looks up streaming_text_conversation.
func ConversationStreamerOf(m Model) (ConversationStreamer, error) {
	return lookup[ConversationStreamer](m, StreamingTextConversation)
}

// PairScorerOf looks up text_pair_to_relevance.
func PairScorerOf(m Model) (PairScorer, error) { return lookup[PairScorer](m, TextPairToRelevance) }

// ScorerOf looks up text_query_documents_to_relevance.
func ScorerOf(m Model) (Scorer, error) { return lookup[Scorer](m, TextQueryDocumentsToRelevance) }

// EmbedderOf looks up text_to_embedding.
func EmbedderOf(m Model) (Embedder, error) { return lookup[Embedder](m, TextToEmbedding) }

// VideoGeneratorOf looks up text_to_video.
func VideoGeneratorOf(m Model) (VideoGenerator, error) { return lookup[VideoGenerator](m, TextToVideo) }

// BatchVideoGeneratorOf looks up batch_text_to_video.
func BatchVideoGeneratorOf(m Model) (BatchVideoGenerator, error) {
	return lookup[BatchVideoGenerator](m, BatchTextToVideo)
}

func lookup[T any](m Model, id ID) (T, error) {
	var none T
	got, err := m.Lookup(id)
	if err != nil {
		return none, err
	}
	t, ok := got.(T)
	if !ok {
		return none, &Error{Op: "lookup", Task: id, Detail: fmt.Sprintf("implementation has type %T", got), Err: ErrInternal}
	}
	return t, nil
}

// Unsupported returns the error of a Lookup for a Task that is not declared.
func Unsupported(id ID) error {
	return &Error{Op: "lookup", Task: id, Detail: "the model does not declare this task", Err: ErrUnsupported}
}
