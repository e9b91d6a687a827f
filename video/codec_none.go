//go:build !(cgo && ((linux && (amd64 || arm64 || arm)) || (darwin && (amd64 || arm64)) || (windows && amd64)))

package video

// HasEncoder says whether this build can encode; when not, [NewEncoder] and [Open] return [ErrNoEncoder].
const HasEncoder = false

const codecName = "none"

func newCodec(codecConfig) (codec, error) { return nil, ErrNoEncoder }
