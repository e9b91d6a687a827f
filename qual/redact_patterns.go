package qual

import (
	"regexp"
	"slices"
	"strings"
)

// The characters of one name in a path, and those that may stand before an absolute path.
const (
	pathName   = `[^\s"'<>|,;:()\[\]{}\\/` + "`" + `]+`
	pathBefore = `(^|[\s"'<>|,;:=(\[{` + "`" + `])`
)

// patternRules are the rules that hold on every machine. Each is written so that its own replacement does not match.
func patternRules() []redactRule {
	whole := func(stand string) func(string, []int) string { return func(string, []int) string { return stand } }
	// The second group is the secret, the first what stands before it.
	second := func(stand string) func(string, []int) string {
		return func(text string, at []int) string {
			switch value := text[at[4]:at[5]]; {
			case strings.HasPrefix(value, "["), slices.Contains([]string{"null", "true", "false", "none", "None"}, value):
				return text[at[0]:at[1]]
			}
			return text[at[2]:at[3]] + stand
		}
	}
	return []redactRule{
		{"key", "keys of well-known services by their prefixes", regexp.MustCompile(`\b(?:sk-|hf_|nvapi-|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AKIA|AIza)[A-Za-z0-9_\-]{10,}`), whole("[secret]")},
		{"bearer", "what follows the word Bearer or Basic", regexp.MustCompile(`((?i:\b(?:bearer|basic))\s+)([A-Za-z0-9._~+/\-]{8,}=*)`), second("[secret]")},
		{"named secret", "values named api key, password, secret or access token", regexp.MustCompile(`((?i:\b(?:api[-_]?key|password|passwd|secret|(?:access|auth)[-_]?token))["']?(?:\s*[:=]\s*|"\s*,\s*)["']?)([^\s"',&}\]]{3,}\]?)`), second("[secret]")},
		{"secret flag", "values of flags -api-key, -token, -password, -secret", regexp.MustCompile(`(--?(?:api-key|token|password|secret)\s+)([^\s"',]+)`), second("[secret]")},
		{"URL login", "names and passwords before the host of a URL", regexp.MustCompile(`(://)([^/\s@"']+)@`), func(text string, at []int) string {
			if text[at[4]:at[5]] == "[secret]" {
				return text[at[0]:at[1]]
			}
			return "://[secret]@"
		}},
		{"URL host", "hosts of URLs but loopback and well-known public ones", regexp.MustCompile(`(https?://(?:\[secret\]@)?)([A-Za-z0-9][A-Za-z0-9.\-]*)`), redactHost},
		{"IPv4", "IPv4 addresses but loopback", regexp.MustCompile(`\b[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\b`), redactIPv4},
		{"IPv6", "IPv6 addresses but loopback", regexp.MustCompile(`\b[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]{2,}[0-9A-Fa-f:.]*`), redactIPv6},
		{"home", "home folders and whose they are", regexp.MustCompile(`/(?:home|Users)/` + pathName), whole("[path]")},
		{"path", "absolute paths; the last name stays", regexp.MustCompile(pathBefore + `((?:file://)?/` + pathName + `(?:/` + pathName + `)+/?)`), redactPath},
		{"drive", "absolute paths with a drive letter", regexp.MustCompile(`\b[A-Za-z]:\\+[^\s"'\\:]+(?:\\+[^\s"'\\:]+)*`), whole("[path]")},
	}
}

// publicHosts may be named: sources of traces, bundles and programs.
func publicHosts() []string {
	return []string{
		"localhost", "github.com", "raw.githubusercontent.com", "huggingface.co", "nvidia.com", "docs.nvidia.com", "build.nvidia.com",
		"developer.nvidia.com", "catalog.ngc.nvidia.com", "www.w3.org", "www.apache.org", "creativecommons.org",
	}
}

func redactHost(text string, at []int) string {
	host := text[at[4]:at[5]]
	if slices.Contains(publicHosts(), strings.ToLower(host)) || strings.HasPrefix(host, "127.") {
		return text[at[0]:at[1]]
	}
	return text[at[2]:at[3]] + "[host]"
}

// redactIPv4 spares versions of four parts, which look the same: those after the word version, a library's suffix or
// a package's ==.
func redactIPv4(text string, at []int) string {
	value := text[at[0]:at[1]]
	before := strings.ToLower(text[max(0, at[0]-16):at[0]])
	if !privateAddress(value) || strings.Contains(before, "version") || strings.Contains(before, ".so.") || strings.HasSuffix(before, "==") {
		return value
	}
	return "[address]"
}

func redactIPv6(text string, at []int) string {
	value := text[at[0]:at[1]]
	if privateAddress(value) && strings.Count(value, ":") >= 3 {
		return "[address]"
	}
	return value
}

// redactPath keeps the last name of a path, and routes of the HTTP API whole.
func redactPath(text string, at []int) string {
	value := text[at[4]:at[5]]
	trimmed := strings.Trim(strings.TrimPrefix(value, "file://"), "/")
	names := strings.Split(trimmed, "/")
	if slices.Contains([]string{"v1", "v2", "health"}, names[0]) {
		return text[at[0]:at[1]]
	}
	return text[at[2]:at[3]] + "[path]/" + names[len(names)-1]
}
