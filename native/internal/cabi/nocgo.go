//go:build !cgo

package cabi

import (
	"time"
	"unsafe"
)

// The types below have the methods of their cgo twins so that callers compile; no value of them can be made.
type (
	Library            struct{}
	Model              struct{}
	TextStream         struct{}
	ConversationStream struct{}
	Video              struct{}
	Bundle             struct{}
)

// OpenLibrary returns ErrNoCgo.
func OpenLibrary(string) (*Library, error) { return nil, ErrNoCgo }

// OpenEntry returns ErrNoCgo.
func OpenEntry(unsafe.Pointer) (*Library, error) { return nil, ErrNoCgo }

// Live returns zeros.
func Live() Counts { return Counts{} }

func (*Library) Version() string                            { return "" }
func (*Library) Load(string, LoadOptions) (*Model, error)   { return nil, ErrNoCgo }
func (*Library) OpenBundle(string) (*Bundle, error)         { return nil, ErrNoCgo }
func (*Bundle) Info() BundleInfo                            { return BundleInfo{} }
func (*Bundle) ReadSection(string) ([]byte, error)          { return nil, ErrNoCgo }
func (*Bundle) Close()                                      {}
func (*Model) Info() ModelInfo                              { return ModelInfo{} }
func (*Model) Close()                                       {}
func (*Model) Check(string) error                           { return ErrNoCgo }
func (*Model) LoRA() error                                  { return ErrNoCgo }
func (*Model) ContinueText(TextRequest) (TextResult, error) { return TextResult{}, ErrNoCgo }
func (*Model) StartText(TextRequest) (*TextStream, time.Time, error) {
	return nil, time.Time{}, ErrNoCgo
}
func (*Model) Converse(ConversationRequest) (ConversationResult, error) {
	return ConversationResult{}, ErrNoCgo
}
func (*Model) StartConversation(ConversationRequest) (*ConversationStream, time.Time, error) {
	return nil, time.Time{}, ErrNoCgo
}
func (*Model) Score(string, []string, string, []Setting) (ScoreResult, error) {
	return ScoreResult{}, ErrNoCgo
}
func (*Model) ScorePair(string, string, []Setting) (float32, uint32, Span, error) {
	return 0, 0, Span{}, ErrNoCgo
}
func (*Model) Embed(string, uint32, []Setting) (EmbeddingResult, error) {
	return EmbeddingResult{}, ErrNoCgo
}
func (*Model) Video(VideoRequest) (*Video, error)         { return nil, ErrNoCgo }
func (*Model) Videos([]VideoRequest) ([]*Video, error)    { return nil, ErrNoCgo }
func (*TextStream) Next(time.Duration) (TextEvent, error) { return TextEvent{}, ErrNoCgo }
func (*TextStream) Cancel() error                         { return ErrNoCgo }
func (*TextStream) Close()                                {}
func (*ConversationStream) Next(time.Duration) (ConversationEvent, error) {
	return ConversationEvent{}, ErrNoCgo
}
func (*ConversationStream) Cancel() error   { return ErrNoCgo }
func (*ConversationStream) Close()          {}
func (*Video) Info() VideoInfo              { return VideoInfo{} }
func (*Video) Frame(int) ([]float32, error) { return nil, ErrNoCgo }
func (*Video) Release()                     {}
