package serving

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/trtmc-go/trtmc/internal/monotime"
	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/serving/record"
)

// Config says what a [Server] serves. Only Models is required; every zero field means its documented default.
type Config struct {
	Models  []Model
	Records RecordSink // nil: no records are kept
	Queue   Queue      // of each model apart
	Limits  Limits
	Video   VideoOptions
	// APIKey is what clients must send as a bearer token on every route but /health/*. Empty: no key is asked for, and
	// Serve then takes loopback addresses only.
	APIKey string
	// Grace is how long Serve lets running and queued requests go on after its context has ended; default 30 s.
	Grace time.Duration
	// Clock gives the instants of records; default a clock of the host's monotonic axis.
	Clock monotime.Clock
	// Logger gets one line for each failed request and for trouble of the server itself; default none.
	Logger *slog.Logger
}

// RecordSink takes the record of each finished request; [record.Writer] is one. Append is called by many goroutines
// at once and should not block for long.
type RecordSink interface {
	Append(record.Record) error
}

// Model is one bundle under its served name. The server does not close the lanes.
type Model struct {
	// Name is what requests call the model: a letter or digit, then up to 255 letters, digits, dots, underscores,
	// slashes and hyphens.
	Name string
	// Lanes are model handles of one bundle; each runs one Task call at a time. At least one.
	Lanes []task.Model
	// ContextTokens is the most tokens that prompt and output may have together; 0 when unknown, and then only the
	// Task itself refuses what does not fit.
	ContextTokens int
	// MaxOutputTokens is the most tokens that a request may ask for; 0 for no limit but the context.
	MaxOutputTokens int
	// CountTokens returns how many tokens the model makes of a prompt; nil when that is unknown. It is called by many
	// goroutines at once.
	CountTokens func(prompt string) int
}

// Queue bounds the requests of one model that wait for a lane. They are served first come, first served.
type Queue struct {
	Count int           // most requests waiting; default 64, negative for no queue at all
	Bytes int64         // most body bytes of all waiting requests together; default 64 MiB
	Wait  time.Duration // longest wait; default 30 s
}

// Limits bound what one client may send or hold.
type Limits struct {
	BodyBytes   int64         // request body, expanded when it is compressed; default 4 MiB
	HeaderBytes int           // request line and headers; default 64 KiB
	PromptBytes int           // all text of a prompt or of the messages; default BodyBytes
	HeaderTime  time.Duration // to send the headers; default 10 s
	BodyTime    time.Duration // to send the body; default 60 s
	WriteTime   time.Duration // to take one piece of an answer; default 60 s
	IdleTime    time.Duration // a connection may rest between requests; default 330 s, as pooled clients keep 300 s
}

var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,255}$`)

// withDefaults checks c and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	if len(c.Models) == 0 {
		return c, errors.New("no models to serve")
	}
	seen := map[string]bool{}
	for i, m := range c.Models {
		switch {
		case !modelName.MatchString(m.Name):
			return c, fmt.Errorf("model name %q: want a letter or digit, then at most 255 letters, digits, '.', '_', '/' or '-'", m.Name)
		case seen[m.Name]:
			return c, fmt.Errorf("model name %q is given twice", m.Name)
		case len(m.Lanes) == 0:
			return c, fmt.Errorf("model %q has no lanes", m.Name)
		case m.ContextTokens < 0 || m.MaxOutputTokens < 0:
			return c, fmt.Errorf("model %q has a negative token limit", m.Name)
		}
		for j, lane := range m.Lanes {
			if lane == nil {
				return c, fmt.Errorf("lane %d of model %q is nil", j, m.Name)
			}
		}
		seen[c.Models[i].Name] = true
	}
	c.Queue = c.Queue.withDefaults()
	c.Limits = c.Limits.withDefaults()
	c.Grace = orDefault(c.Grace, 30*time.Second)
	if c.Clock == (monotime.Clock{}) {
		c.Clock = monotime.New()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func (q Queue) withDefaults() Queue {
	if q.Count == 0 {
		q.Count = 64
	}
	q.Count = max(q.Count, 0)
	q.Bytes = orDefault(q.Bytes, 64<<20)
	q.Wait = orDefault(q.Wait, 30*time.Second)
	return q
}

func (l Limits) withDefaults() Limits {
	l.BodyBytes = orDefault(l.BodyBytes, 4<<20)
	l.HeaderBytes = orDefault(l.HeaderBytes, 64<<10)
	l.PromptBytes = orDefault(l.PromptBytes, int(l.BodyBytes))
	l.HeaderTime = orDefault(l.HeaderTime, 10*time.Second)
	l.BodyTime = orDefault(l.BodyTime, time.Minute)
	l.WriteTime = orDefault(l.WriteTime, time.Minute)
	l.IdleTime = orDefault(l.IdleTime, 330*time.Second)
	return l
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
