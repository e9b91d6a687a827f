package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// connection is one keep-alive connection that sends the same request again and again. It reads answers with as little
// work as it can, so that one core of client keeps one core of server busy.
type connection struct {
	conn    net.Conn
	r       *bufio.Reader
	request []byte
}

func dial(addr string, body []byte) (*connection, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	request := fmt.Appendf(nil, "POST /v1/ranking HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", addr, len(body))
	return &connection{conn: conn, r: bufio.NewReaderSize(conn, 64<<10), request: append(request, body...)}, nil
}

// exchange sends one request and reads one answer, of which it returns the status.
func (c *connection) exchange() (status int, err error) {
	if _, err := c.conn.Write(c.request); err != nil {
		return 0, err
	}
	length := -1
	for line := 0; ; line++ {
		b, err := c.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		b = bytes.TrimRight(b, "\r\n")
		switch name, value, _ := bytes.Cut(b, []byte(": ")); {
		case line == 0 && len(b) >= 12:
			status, _ = strconv.Atoi(string(b[9:12]))
		case len(b) == 0 && length < 0: // net/http sends what is longer than its buffer in chunks
			return status, c.discardChunks()
		case len(b) == 0:
			_, err := c.r.Discard(length)
			return status, err
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
}

func (c *connection) discardChunks() error {
	for {
		b, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(bytes.TrimRight(b, "\r\n")), 16, 31)
		if err != nil {
			return err
		}
		if _, err := c.r.Discard(int(n) + len("\r\n")); err != nil || n == 0 {
			return err
		}
	}
}

// result is what one server did in one round.
type result struct {
	perSecond float64
	p99       time.Duration
	cpu       time.Duration // of the server process, for one request; 0 where the system does not tell
}

// measure keeps n connections to a server busy for d.
func measure(srv *server, body []byte, n int, d time.Duration) (result, error) {
	var wg sync.WaitGroup
	times := make([][]time.Duration, n)
	errs := make([]error, n)
	cpu := srv.cpu()
	start := time.Now()
	for k := range n {
		wg.Go(func() {
			c, err := dial(srv.addr, body)
			if err != nil {
				errs[k] = err
				return
			}
			defer c.conn.Close()
			for last := time.Now(); last.Sub(start) < d; {
				status, err := c.exchange()
				if err != nil || status != http.StatusOK {
					errs[k] = fmt.Errorf("status %d: %w", status, err)
					return
				}
				now := time.Now()
				times[k] = append(times[k], now.Sub(last))
				last = now
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	cpu = srv.cpu() - cpu
	for _, err := range errs {
		if err != nil {
			return result{}, err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	return result{
		perSecond: float64(len(all)) / took.Seconds(),
		p99:       all[len(all)*99/100],
		cpu:       cpu / time.Duration(len(all)),
	}, nil
}

// check asks a server once with an ordinary client and wants the answer that all servers owe.
func check(addr string, body []byte) error {
	resp, err := http.Post("http://"+addr+"/v1/ranking", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d, body %s: %w", resp.StatusCode, b, err)
	}
	var req wireRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	want, err := rank(req)
	if err != nil {
		return err
	}
	var got wireResponse
	if err := json.Unmarshal(b, &got); err != nil {
		return err
	}
	if !slices.Equal(got.Rankings, want.Rankings) {
		return fmt.Errorf("got %+v, want %+v", got, want)
	}
	return nil
}
