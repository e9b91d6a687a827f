package qual

import "time"

// clocks remembers which clocks the two sides named.
type clocks struct{ client, server clock }

// clock is the name and the spread of the wall bases of one side.
type clock struct {
	name      string
	mixed     bool // more than one name
	low, high int64
}

func (c *clock) take(name string, base int64) {
	switch {
	case c.name == "":
		c.name, c.low, c.high = name, base, base
	case c.name != name:
		c.mixed = true
	}
	c.low, c.high = min(c.low, base), max(c.high, base)
}

// stepLimit is how far wall bases of one host may differ before it is called a step of the wall clock.
const stepLimit = 50 * time.Millisecond

// doubts says what the wall bases give away: a wall clock that was stepped, or two hosts.
func (c clocks) doubts() []string {
	var out []string
	if c.client.mixed || c.server.mixed {
		out = append(out, "instants of one side come from more than one clock")
	}
	if c.client.name == "" || c.server.name == "" {
		return out
	}
	low, high := min(c.client.low, c.server.low), max(c.client.high, c.server.high)
	if d := time.Duration(high - low); c.client.name == c.server.name && d > stepLimit {
		out = append(out, "the wall base of the monotonic clock moved by "+d.Round(time.Millisecond).String()+
			" during the run: the wall clock was stepped, or the two sides are two hosts")
	}
	return out
}
