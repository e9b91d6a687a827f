package ranking

import "github.com/trtmc-go/trtmc/native/task"

// Observation is what a handler knows of one request when it has answered it, whatever became of it. It holds no
// text of the client. Counts are 0 when the body could not be decoded.
type Observation struct {
	Route        string // the route's pattern, RouteRanking or RouteReranking
	Model        string // served name of the model found; empty when none was
	BytesIn      int64  // body bytes read
	Passages     int
	QueryBytes   int
	QueryWords   int
	PassageBytes int // all passages together
	PassageWords int // all passages together
	Settings     task.Settings
	Called       bool // the Scorer was called; whether a Task call began behind it is the Scorer's to say
	Kind         task.ScoreKind
	Timing       task.Timing // of the Task call, zero when it gave none
	Status       int         // HTTP status; 499 when the client was gone before one could be sent
	Code         string      // empty when the answer was delivered, else the cause; one of the Code constants or the Scorer's own
	Err          error       // the cause in full, for logs; nil when the answer was delivered
}

func (o *Observation) count(req *Request) {
	o.Passages = len(req.Passages)
	o.QueryBytes, o.QueryWords = len(req.Query), words(req.Query)
	for _, p := range req.Passages {
		o.PassageBytes += len(p)
		o.PassageWords += words(p)
	}
}
