package trace_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/trace"
)

// rawServer answers connections with a function and counts the requests that were read.
type rawServer struct {
	net.Listener
	requests atomic.Int64
	wg       sync.WaitGroup
}

func newRawServer(t *testing.T, serve func(s *rawServer, c net.Conn, br *bufio.Reader)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &rawServer{Listener: l}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() {
				defer c.Close()
				serve(s, c, bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { l.Close(); s.wg.Wait() })
	return s
}

// read takes one whole request, or returns false at the end of the connection.
func (s *rawServer) read(br *bufio.Reader) bool {
	req, err := http.ReadRequest(br)
	if err != nil {
		return false
	}
	s.requests.Add(1)
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}

func (s *rawServer) sender(t *testing.T) *trace.Sender {
	t.Helper()
	sender := &trace.Sender{BaseURL: "http://" + s.Addr().String(), Timeout: 20 * time.Second}
	t.Cleanup(func() { sender.Close() })
	return sender
}

func rawAnswer(head string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", head, len(answerJSON), answerJSON)
}

func TestRequestIsNeverSentTwice(t *testing.T) {
	server := newRawServer(t, func(s *rawServer, c net.Conn, br *bufio.Reader) {
		if s.read(br) {
			io.WriteString(c, rawAnswer(""))
		}
		s.read(br) // and closes without an answer
	})
	sender := server.sender(t)
	require.Equal(t, trace.ResultOK, sender.Do(t.Context(), items(0)[0], 0).Result)
	row := sender.Do(t.Context(), items(0)[0], 0)
	require.Equal(t, trace.ResultTransportError, row.Result)
	require.Contains(t, row.Error, "closed the connection before the answer was whole")
	require.False(t, row.NewConnection)
	require.NotZero(t, row.SentNS)
	require.EqualValues(t, 2, server.requests.Load())
}

func TestConnectionClosedWhileIdleIsNotUsed(t *testing.T) {
	closed := make(chan struct{}, 2)
	server := newRawServer(t, func(s *rawServer, c net.Conn, br *bufio.Reader) {
		if s.read(br) {
			io.WriteString(c, rawAnswer("")) // keep-alive, and then closes all the same
		}
		c.Close()
		closed <- struct{}{}
	})
	sender := server.sender(t)
	for range 2 {
		require.Equal(t, trace.ResultOK, sender.Do(t.Context(), items(0)[0], 0).Result)
		<-closed
		require.Eventually(t, func() bool { return sender.Idle() == 0 }, 10*time.Second, time.Millisecond, "the end is noticed")
	}
	require.EqualValues(t, 2, server.requests.Load())
}

func TestUnaskedBytesEndTheConnection(t *testing.T) {
	server := newRawServer(t, func(s *rawServer, c net.Conn, br *bufio.Reader) {
		if s.read(br) {
			io.WriteString(c, rawAnswer("")+rawAnswer("")) // the second answers nothing
		}
		s.read(br)
	})
	sender := server.sender(t)
	require.Equal(t, trace.ResultOK, sender.Do(t.Context(), items(0)[0], 0).Result)
	require.Eventually(t, func() bool { return sender.Idle() == 0 }, 10*time.Second, time.Millisecond)
	row := sender.Do(t.Context(), items(0)[0], 0)
	require.Equal(t, trace.ResultOK, row.Result)
	require.True(t, row.NewConnection)
}

func TestOddButValidAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"interim":       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + rawAnswer(""),
		"close":         rawAnswer("Connection: close\r\n"),
		"http/1.0":      strings.Replace(rawAnswer(""), "HTTP/1.1", "HTTP/1.0", 1),
		"until the end": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + answerJSON,
		"chunked":       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(answerJSON), answerJSON),
	} {
		t.Run(name, func(t *testing.T) {
			server := newRawServer(t, func(s *rawServer, c net.Conn, br *bufio.Reader) {
				if s.read(br) {
					io.WriteString(c, text)
				}
			})
			sender := server.sender(t)
			for range 2 {
				row := sender.Do(t.Context(), items(0)[0], 0)
				require.Equal(t, trace.ResultOK, row.Result, row.Error)
				require.EqualValues(t, len(answerJSON), row.BytesIn)
				require.Eventually(t, func() bool { return sender.Idle() == 0 }, 10*time.Second, time.Millisecond)
			}
		})
	}
}

func TestBrokenAnswersAreTransportErrors(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        "",
		"half a head":    "HTTP/1.1 200 OK\r\nConte",
		"not http":       "SSH-2.0-OpenSSH\r\n\r\n",
		"half a body":    rawAnswer("")[:90],
		"half a chunk":   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
		"endless head":   "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300_000),
		"only interims":  strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20),
		"two lengths":    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"no such length": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxx",
	} {
		t.Run(name, func(t *testing.T) {
			server := newRawServer(t, func(s *rawServer, c net.Conn, br *bufio.Reader) {
				if s.read(br) {
					io.WriteString(c, text)
				}
			})
			row := server.sender(t).Do(t.Context(), items(0)[0], 0)
			require.Equal(t, trace.ResultTransportError, row.Result, "%+v", row)
			require.NotEmpty(t, row.Error)
			require.EqualValues(t, 1, server.requests.Load())
			require.GreaterOrEqual(t, row.EndedNS, row.LastByteNS)
		})
	}
}

func TestEarlyRefusalOfALargeBodyIsSeen(t *testing.T) {
	refusal := `{"error":{"code":"content_too_large","message":"too large"}}`
	server := newRawServer(t, func(_ *rawServer, c net.Conn, br *bufio.Reader) {
		req, err := http.ReadRequest(br) // the head only
		if err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(refusal), refusal)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, req.Body) // lingers, as servers do, until the client is gone
	})
	item := items(0)[0]
	item.Body = []byte(`"` + strings.Repeat("x", 32<<20) + `"`)
	sender := server.sender(t)
	row := sender.Do(t.Context(), item, 0)
	require.Equal(t, trace.ResultHTTPError, row.Result, row.Error)
	require.Equal(t, 413, row.Status)
	require.Equal(t, "content_too_large", row.ErrorCode)
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	reached := make(chan struct{})
	server := newRawServer(t, func(s *rawServer, _ net.Conn, br *bufio.Reader) {
		if s.read(br) {
			close(reached)
		}
		s.read(br)
	})
	sender := server.sender(t)
	settled := make(chan trace.Row, 1)
	go func() { settled <- sender.Do(context.Background(), items(0)[0], 0) }()
	<-reached
	require.NoError(t, sender.Close())
	require.Equal(t, trace.ResultTransportError, (<-settled).Result)
	row := sender.Do(t.Context(), items(0)[0], 0)
	require.Equal(t, trace.ResultNotSent, row.Result)
}
