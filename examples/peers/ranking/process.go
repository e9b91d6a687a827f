package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// errEmpty is the peers' refusal of a request without a query or passages.
var errEmpty = errors.New("empty query or passages")

// server is a running server process.
type server struct {
	name string
	addr string
	cmd  *exec.Cmd
}

func (s *server) stop() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// cpu returns the processor time that the server has used, 0 where there is no /proc. Field 14 of /proc/PID/stat is the
// user time and field 15 the system time, in hundredths of a second (proc(5); Linux fixes USER_HZ at 100).
func (s *server) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest) // from field 3 on
	if len(fields) < 13 {
		return 0
	}
	user, errUser := strconv.Atoi(fields[11])
	system, errSystem := strconv.Atoi(fields[12])
	if errUser != nil || errSystem != nil {
		return 0
	}
	return time.Duration(user+system) * time.Second / 100
}

// startGo runs this program as one of the Go servers in a process of its own with GOMAXPROCS=1.
func startGo(name string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := pinned(self, "-serve", name)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		return nil, errors.Join(fmt.Errorf("server %s gave no address: %w", name, err), cmd.Wait())
	}
	return &server{name: name, addr: addr[:len(addr)-1], cmd: cmd}, nil
}

// serveGo is the other side of startGo: it serves until it is killed.
func serveGo(stdout io.Writer, name string) error {
	h := handlerNamed(name)
	if h == nil {
		return fmt.Errorf("no server is called %q", name)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, l.Addr())
	return (&http.Server{Handler: h}).Serve(l)
}

// startFastAPI runs server.py under uvicorn with one worker, uvloop and httptools. The port is a free one that uvicorn
// tells on standard error; a socket handed over with --fd would be served without TCP_NODELAY.
func startFastAPI(python string) (*server, error) {
	dir, err := sourceDir()
	if err != nil {
		return nil, err
	}
	cmd := pinned(python, "-m", "uvicorn", "server:app", "--host", "127.0.0.1", "--port", "0", "--workers", "1", "--loop", "uvloop", "--http", "httptools", "--no-access-log")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var said strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); said.WriteString(lines.Text() + "\n") {
		if _, rest, ok := strings.Cut(lines.Text(), "running on http://"); ok {
			go io.Copy(io.Discard, log)
			return &server{name: "fastapi", addr: strings.Fields(rest)[0], cmd: cmd}, nil
		}
	}
	cmd.Process.Kill()
	return nil, errors.Join(fmt.Errorf("uvicorn gave no address: %s", &said), cmd.Wait())
}

// ready checks that the server, which listens already, answers rightly.
func (s *server) ready(body []byte) error {
	if err := check(s.addr, body); err != nil {
		return fmt.Errorf("server %s: %w", s.name, err)
	}
	return nil
}

// pinned runs a server on the first processor where taskset is there, which leaves the others to the client.
func pinned(name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 1 {
		return exec.Command(taskset, append([]string{"-c", "0", name}, args...)...)
	}
	return exec.Command(name, args...)
}

// sourceDir is where server.py lies.
func sourceDir() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("the program does not know where its sources are")
	}
	dir := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(dir, "server.py")); err != nil {
		return "", fmt.Errorf("run it with go run: %w", err)
	}
	return dir, nil
}
