package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be a server, as the program itself can be one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestServersGiveTheSameAnswer(t *testing.T) {
	for _, name := range []string{serverOurs, serverStandard, serverSonic} {
		srv := httptest.NewServer(handlerNamed(name))
		for _, body := range [][]byte{requestBody("m", 1, words(3)), requestBody("m", 32, words(20)), requestBody("m", 100, words(200))} {
			require.NoError(t, check(strings.TrimPrefix(srv.URL, "http://"), body), name)
		}
		srv.Close()
	}
}

func TestComparisonPrintsARowForEachServer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run([]string{"-rounds", "1", "-slice", "50ms", "-connections", "2", "-passages", "120", "-python", "/no/python"}, &stdout, &stderr)
	require.Equal(t, 0, code, stderr.String())
	require.Contains(t, stdout.String(), "SKIPPED fastapi")
	for _, name := range []string{serverOurs, serverStandard, serverSonic} {
		require.Regexp(t, `(?m)^`+name+` +\d+ +\d+\.\d +\d+\.\d +\d+\.\d\dx`, stdout.String())
	}
}

func TestWrongUsageIsExitCode2(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"stray"}, {"-nonsense"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, 2, run(args, &stdout, &stderr), args)
		require.NotEmpty(t, stderr.String())
	}
}
