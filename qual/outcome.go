package qual

import (
	"fmt"

	"github.com/trtmc-go/trtmc/serving/record"
	"github.com/trtmc-go/trtmc/trace"
)

// ServerSide is what the server recorded of one request; the zero value says that it has no record.
type ServerSide struct {
	Outcome record.Outcome
	Reason  record.Reason
	Status  int
}

// ClientSide is what the client saw of one request; the zero value says that it has no row.
type ClientSide struct {
	Result    trace.Result
	Status    int
	ErrorCode string
}

// Settlement is how one offered request ended when both sides are heard.
type Settlement struct {
	Outcome record.Outcome
	// Cause groups rejections and failures: the server's reason when it has one, else what the client saw or which
	// side is missing. It is empty when the request completed.
	Cause string
	// Disagreement is non-empty when the two sides tell different stories, e.g. "completed at the server, timeout at
	// the client".
	Disagreement string
}

// The causes that come from a missing side.
const (
	CauseNoRow      = "no client row"
	CauseNoRecord   = "no server record"
	CauseNeither    = "no client row and no server record"
	CauseNotSent    = "not sent"
	CauseContradict = "the sides disagree"
)

// Settle decides how a request ended. It is the only place where outcomes are made.
//
// A request completed only when the server delivered everything and the client received everything. It was rejected
// only when the server refused it before any Task call and the client saw that very refusal. Everything else failed.
func Settle(server ServerSide, client ClientSide) Settlement {
	switch {
	case server.Outcome == "" && client.Result == "":
		return Settlement{record.Failed, CauseNeither, ""}
	case server.Outcome == "":
		return settleWithoutRecord(client)
	case client.Result == "":
		return Settlement{record.Failed, CauseNoRow, server.words() + " at the server, no client row"}
	}
	switch server.Outcome {
	case record.Completed:
		if client.Result == trace.ResultOK {
			return Settlement{Outcome: record.Completed}
		}
		return Settlement{record.Failed, "client: " + string(client.Result), disagree(server, client)}
	case record.Rejected:
		if client.Result == trace.ResultHTTPError && client.Status == server.Status {
			return Settlement{Outcome: record.Rejected, Cause: string(server.Reason)}
		}
		return Settlement{record.Failed, causeOfBrokenRefusal(client), disagree(server, client)}
	}
	return settleFailed(server, client)
}

func settleWithoutRecord(client ClientSide) Settlement {
	switch client.Result {
	case trace.ResultNotSent:
		return Settlement{Outcome: record.Failed, Cause: client.notSent()}
	case trace.ResultOK, trace.ResultHTTPError, trace.ResultStreamError, trace.ResultStreamTruncated, trace.ResultBadResponse, trace.ResultJobFailed:
		return Settlement{record.Failed, CauseNoRecord, client.words() + " at the client, no server record"}
	}
	// The connection broke or the client gave up: the request may never have reached a server that could record it.
	return Settlement{Outcome: record.Failed, Cause: CauseNoRecord}
}

func settleFailed(server ServerSide, client ClientSide) Settlement {
	s := Settlement{Outcome: record.Failed, Cause: string(server.Reason)}
	switch client.Result {
	case trace.ResultOK, trace.ResultNotSent:
		s.Disagreement = disagree(server, client)
	case trace.ResultHTTPError:
		// 499 is the server's own mark for a client that left before a status could be sent.
		if client.Status != server.Status {
			s.Disagreement = disagree(server, client)
		}
	}
	return s
}

// causeOfBrokenRefusal names why a refusal does not count as one: the client broke, or saw something else.
func causeOfBrokenRefusal(client ClientSide) string {
	if client.Result == trace.ResultOK || client.Result == trace.ResultHTTPError {
		return CauseContradict
	}
	return "client: " + string(client.Result)
}

func disagree(server ServerSide, client ClientSide) string {
	return server.words() + " at the server, " + client.words() + " at the client"
}

func (s ServerSide) words() string {
	if s.Outcome == record.Completed {
		return string(s.Outcome)
	}
	return fmt.Sprintf("%s (%d %s)", s.Outcome, s.Status, s.Reason)
}

func (c ClientSide) words() string {
	switch c.Result {
	case trace.ResultHTTPError:
	case trace.ResultNotSent:
		return c.notSent()
	default:
		return string(c.Result)
	}
	if c.ErrorCode == "" {
		return fmt.Sprintf("status %d", c.Status)
	}
	return fmt.Sprintf("status %d %s", c.Status, c.ErrorCode)
}

// notSent says that no byte left the client, and why.
func (c ClientSide) notSent() string {
	if c.ErrorCode == "" {
		return CauseNotSent
	}
	return CauseNotSent + ": " + c.ErrorCode
}
