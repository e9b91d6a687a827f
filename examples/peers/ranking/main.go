// Ranking compares the ranking handler with what one would write instead: net/http with encoding/json, net/http with
// sonic, and FastAPI with pydantic 2 under uvicorn. Each is a process of its own on one processor with the same trivial
// scorer; they are driven in turn, round by round, and ratios are taken within a round.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type settings struct {
	serve       string
	python      string
	passages    int
	words       int
	connections int
	rounds      int
	slice       time.Duration
}

// run returns the exit code: 0 when every server that could be started was measured, 1 otherwise, 2 for wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("ranking", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.serve, "serve", "", "be the server of this name and nothing else (used by the program itself)")
	flags.StringVar(&s.python, "python", defaultPython(), "python with fastapi, pydantic and uvicorn[standard]")
	flags.IntVar(&s.passages, "passages", 32, "passages of a request")
	flags.IntVar(&s.words, "words", 20, "words of a passage")
	flags.IntVar(&s.connections, "connections", 32, "connections of the client")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds")
	flags.DurationVar(&s.slice, "slice", time.Second, "time for each server in a round")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || s.passages < 1 || s.words < 1 || s.connections < 1 || s.rounds < 1 || s.slice <= 0 {
		fmt.Fprintln(stderr, "ranking: want numbers above 0 and no further arguments")
		return 2
	}
	var err error
	if s.serve != "" {
		err = serveGo(stdout, s.serve)
	} else {
		err = compare(s, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "ranking:", err)
		return 1
	}
	return 0
}

// defaultPython is the interpreter of the virtual environment that README.md makes.
func defaultPython() string {
	cache := os.Getenv("TRTMC_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "python3"
		}
		cache = filepath.Join(base, "trtmc")
	}
	return filepath.Join(cache, "peers-venv", "bin", "python")
}

func compare(s settings, stdout io.Writer) error {
	body := requestBody("m", s.passages, words(s.words))
	servers, err := start(s, body, stdout)
	defer func() {
		for _, srv := range servers {
			srv.stop()
		}
	}()
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	fmt.Fprintf(stdout, "%d passages of %d words, body %d bytes, %d connections, %d rounds of %v\n", s.passages, s.words, len(body), s.connections, s.rounds, s.slice)
	results := make([][]result, len(servers))
	for round := range s.rounds {
		for k := range servers {
			at := (round + k) % len(servers)
			r, err := measure(servers[at], body, s.connections, s.slice)
			if err != nil {
				return fmt.Errorf("server %s: %w", servers[at].name, err)
			}
			results[at] = append(results[at], r)
		}
	}
	report(stdout, servers, results)
	return nil
}

// start brings up all servers, ours first. Without the Python packages it says so and goes on without FastAPI.
func start(s settings, body []byte, stdout io.Writer) (servers []*server, err error) {
	for _, name := range []string{serverOurs, serverStandard, serverSonic} {
		srv, err := startGo(name)
		if err != nil {
			return servers, err
		}
		servers = append(servers, srv)
	}
	if out, err := exec.Command(s.python, "-c", "import fastapi, pydantic, uvicorn, uvloop, httptools; print('fastapi', fastapi.__version__, 'pydantic', pydantic.__version__, 'uvicorn', uvicorn.__version__)").Output(); err != nil {
		fmt.Fprintf(stdout, "SKIPPED fastapi: %s cannot import fastapi, pydantic, uvicorn, uvloop and httptools: %v\n", s.python, err)
	} else {
		fmt.Fprintf(stdout, "%s", out)
		srv, err := startFastAPI(s.python)
		if err != nil {
			return servers, err
		}
		servers = append(servers, srv)
	}
	for _, srv := range servers {
		if err := srv.ready(body); err != nil {
			return servers, err
		}
	}
	return servers, nil
}

// report prints medians over the rounds. The ratios are those of one round, theirs to ours or ours to theirs so that
// more than 1 is better for us; their range is over the rounds. The ratio of requests/s can be held down by the client,
// which has one processor as well; processor time for one request cannot.
func report(w io.Writer, servers []*server, results [][]result) {
	fmt.Fprintf(w, "%-14s %11s %8s %11s   %-28s %s\n", "server", "requests/s", "p99 ms", "cpu us/req", "requests/s, ours to theirs", "cpu, theirs to ours")
	for at, srv := range servers {
		column := func(value func(ours, theirs result) float64) []float64 {
			out := make([]float64, len(results[at]))
			for i := range out {
				out[i] = value(results[0][i], results[at][i])
			}
			slices.Sort(out)
			return out
		}
		middle := func(v []float64) float64 { return v[len(v)/2] }
		spread := func(v []float64) string {
			return fmt.Sprintf("%.2fx [%.2f..%.2f]", middle(v), v[0], v[len(v)-1])
		}
		fmt.Fprintf(w, "%-14s %11.0f %8.1f %11.1f   %-28s %s\n", srv.name,
			middle(column(func(_, r result) float64 { return r.perSecond })),
			middle(column(func(_, r result) float64 { return float64(r.p99.Microseconds()) / 1e3 })),
			middle(column(func(_, r result) float64 { return float64(r.cpu.Nanoseconds()) / 1e3 })),
			spread(column(func(ours, r result) float64 { return ours.perSecond / r.perSecond })),
			spread(column(func(ours, r result) float64 { return float64(r.cpu) / float64(ours.cpu) })))
	}
}
