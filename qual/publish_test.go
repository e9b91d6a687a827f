package qual_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/trtmc-go/trtmc/qual"
	"github.com/trtmc-go/trtmc/trace"
)

func testRedactor() *qual.Redactor {
	return qual.NewRedactor([]string{"gpu-box7", "localhost"}, []string{"Alice", "root"})
}

func TestRedactionReplacesWhatIsPrivateAndKeepsTheRest(t *testing.T) {
	for text, want := range map[string]string{
		`open /opt/models/qwen3.bundle: no such file`:            `open [path]/qwen3.bundle: no such file`,
		`"/data/a/b.jsonl","/data/c/d"`:                          `"[path]/b.jsonl","[path]/d"`,
		`-out=/srv/runs/7 -x`:                                    `-out=[path]/7 -x`,
		`/home/alice/trtmc/out`:                                  `[path]/trtmc/out`,
		`file:///srv/x/y`:                                        `[path]/y`,
		`C:\Users\bob\x.txt gone`:                                `[path] gone`,
		`Alice ran on gpu-box7, then on GPU-BOX7.`:               `[user] ran on [host], then on [host].`,
		`root, malice and gpu-box77 stay`:                        `root, malice and gpu-box77 stay`,
		`POST /v1/video/x and /health/live`:                      `POST /v1/video/x and /health/live`,
		`application/json, 3/4, and/or, a < b / c`:               `application/json, 3/4, and/or, a < b / c`,
		`http://127.0.0.1:8000/v1/models`:                        `http://127.0.0.1:8000/v1/models`,
		`http://gpu.corp.example:8000/v1/models`:                 `http://[host]:8000/v1/models`,
		`https://github.com/kvcache-ai/Mooncake`:                 `https://github.com/kvcache-ai/Mooncake`,
		`https://bob:hunter2@build.nvidia.com/x`:                 `https://[secret]@build.nvidia.com/x`,
		`from 10.1.2.3:514 and 0.0.0.0 and 127.0.0.1`:            `from [address]:514 and 0.0.0.0 and 127.0.0.1`,
		`fe80::1:2:3%eth0, 2001:db8::5:1, ::1, 12:34:56`:         `[address]%eth0, [address], ::1, 12:34:56`,
		`TensorRT version 10.9.0.34, libx.so.10.9.0.3`:           `TensorRT version 10.9.0.34, libx.so.10.9.0.3`,
		`Authorization: Bearer abcdefgh12345`:                    `Authorization: Bearer [secret]`,
		`"api_key": "topsecret", "tokens": 12`:                   `"api_key": "[secret]", "tokens": 12`,
		`"api_key": null, "secret":false`:                        `"api_key": null, "secret":false`,
		`"-api-key","hush-hush"`:                                 `"-api-key","[secret]"`,
		`-token hushhush hf_abcdefghijklmnop nvapi-0123456789ab`: `-token [secret] [secret] [secret]`,
	} {
		got := testRedactor().Text(text)
		require.Equal(t, want, got, "%s", text)
		require.Equal(t, got, testRedactor().Text(got), "redacting twice changes nothing")
	}
}

func TestJSONIsRedactedBehindItsEscapes(t *testing.T) {
	in := `{"a": 1.50, "b":"\u002fhome\/alice\u002fx", "c" : "caf\u00e9 <b>", "d":"10.0.0.` + `9"}` + "\n" + `{"torn":"/srv/a/b`
	require.Equal(t, `{"a": 1.50, "b":"[path]/x", "c" : "caf\u00e9 <b>", "d":"[address]"}`+"\n"+`{"torn":"[path]/b`, testRedactor().JSON(in))
}

func TestRedactingIsDoneAfterOneTurn(t *testing.T) {
	parts := []string{
		"/srv/a/b", "/home/alice", "alice", "gpu-box7", "10.0.0.9", "2001:db8::1:2", "http://", "bob:pw@", "Bearer ", "sk-0123456789abc", `"`, `\`, "/", ":", " ", ",", "=",
		"\n", "x", "api_key", "[path]", "[", "]", "C:", "::", "1.2.3.4", "-token ", "é", "file://", "version ",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		r := testRedactor()
		for _, redact := range []func(string) string{r.Text, r.JSON} {
			once := redact(text)
			require.Equal(t, once, redact(once), "%q", text)
		}
		out := r.Text(" 10.0.0.9 gpu-box7 alice " + text)
		require.True(t, strings.HasPrefix(out, " [address] [host] [user] "), "%q", out)
	})
}

func TestAPublishedCopyIsCleanAndStillJudges(t *testing.T) {
	dir := makeRun(t)
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Command = []string{"qualify", "-out", "/srv/private/run", "-api-key", "hush-hush", "-url", "http://gpu-box7:8000"}
	for rel, text := range map[string]string{
		"logs/server.log":             `{"msg":"listening","addr":"10.1.2.3:80","file":"/home/alice/x/y"}` + "\n",
		"bundles/m.bundle":            "alice",
		"workloads/w/artifacts/a.mp4": "\x00\x00\xffbinary",
		"logs/core":                   "\x00\x01",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, rel), []byte(text), 0o644))
	}
	run.Sealed, err = qual.Seal(dir)
	require.NoError(t, err)
	require.NoError(t, qual.WriteRun(dir, run))

	dst := filepath.Join(t.TempDir(), "copy")
	p, err := qual.Publish(dir, dst, testRedactor())
	require.NoError(t, err)
	require.Empty(t, p.Leaks)
	require.True(t, p.Held, "the copy judges like the original")
	require.Equal(t, []string{"logs/server.log"}, p.Changed)
	require.Equal(t, []string{"bundles/m.bundle", "logs/core"}, p.LeftOut)
	require.Equal(t, run.Sealed, p.Originals)
	require.FileExists(t, filepath.Join(dst, "workloads/w/artifacts/a.mp4"))
	require.NoFileExists(t, filepath.Join(dst, "bundles/m.bundle"))
	files := 0
	require.NoError(t, filepath.WalkDir(dst, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		files++
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, word := range []string{"alice", "gpu-box7", "/srv/", "10.1.2.3", "hush-hush", "/home"} {
			require.NotContains(t, string(data), word, path)
		}
		return nil
	}))
	require.Equal(t, files, p.Files)
	r := judgedRun(t, dst)
	want, err := json.Marshal(judgedRun(t, dir).Workloads)
	require.NoError(t, err)
	got, err := json.Marshal(r.Workloads)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
	require.Contains(t, string(r.Markdown()), "redacted copy")
	require.Equal(t, []string{"qualify", "-out", "[path]/run", "-api-key", "[secret]", "-url", "http://[host]:8000"}, r.Run.Command)

	_, err = qual.Publish(dir, dst, testRedactor())
	require.ErrorContains(t, err, "not empty")
}

func TestManifestsOfACopyPinItsFiles(t *testing.T) {
	dir := makeRun(t)
	path := filepath.Join(dir, "workloads", "w", qual.WarmupFile)
	edit(t, dir, "workloads/w/"+qual.WarmupFile, func(lines []string) []string {
		lines[0] = strings.Replace(lines[0], `"prompt":"`, `"prompt":"/srv/secret/x `, 1)
		require.Contains(t, lines[0], "/srv/secret")
		return lines
	})
	changed, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(changed)
	m, err := trace.ReadManifest(filepath.Join(dir, filepath.FromSlash(manifest)))
	require.NoError(t, err)
	part := m.Files[qual.WarmupFile]
	edit(t, dir, manifest, func(lines []string) []string {
		text := strings.ReplaceAll(strings.Join(lines, ""), part.SHA256, hex.EncodeToString(sum[:]))
		return []string{strings.Replace(text, fmt.Sprintf(`"bytes": %d`, part.Bytes), fmt.Sprintf(`"bytes": %d`, len(changed)), 1)}
	})
	run, err := qual.ReadRun(dir)
	require.NoError(t, err)
	run.Sealed, err = qual.Seal(dir)
	require.NoError(t, err)
	require.NoError(t, qual.WriteRun(dir, run))
	require.True(t, judgedRun(t, dir).Verdict.Held)

	dst := filepath.Join(t.TempDir(), "copy")
	p, err := qual.Publish(dir, dst, testRedactor())
	require.NoError(t, err)
	require.Equal(t, []string{manifest, "workloads/w/" + qual.WarmupFile}, p.Changed)
	require.True(t, p.Held, "%v", judgedRun(t, dst).Verdict.Failed)
	copied, err := trace.ReadManifest(filepath.Join(dst, filepath.FromSlash(manifest)))
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dst, "workloads", "w", qual.WarmupFile))
	require.NoError(t, err)
	require.NotContains(t, string(data), "/srv")
	require.Equal(t, int64(len(data)), copied.Files[qual.WarmupFile].Bytes)
}

func TestScanNamesFileLineAndRule(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("fine\nfrom 10.0.0.9\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte(`{"x":"\u002fsrv\u002fdata\u002fx"}`), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.mp4"), []byte("\x00\x01made by gpu-box7 \x02"), 0o644))
	files, leaks, err := qual.Scan(dir, testRedactor())
	require.NoError(t, err)
	require.Equal(t, 3, files)
	require.Equal(t, []qual.Leak{
		{File: "a.txt", Line: 2, Rule: "IPv4"}, {File: "b.json", Line: 1, Rule: "private text behind escapes"}, {File: "c.mp4", Rule: "host name"},
	}, leaks)
}
