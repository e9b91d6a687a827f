package qual

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Redactor replaces what names a person, a machine or a secret: absolute paths, host and user names, addresses but
// loopback ones, and keys. Make one with [NewRedactor]. It is safe for concurrent use.
type Redactor struct {
	rules []redactRule
}

// redactRule is one kind of text that must not be published.
type redactRule struct {
	Name  string
	Words string // what the rule finds, for people
	find  *regexp.Regexp
	// replace returns what stands for a match; the match itself when it may stay. The groups are those of find.
	replace func(text string, at []int) string
}

// NewRedactor returns a redactor that knows the given host and user names besides its patterns. Names shorter than
// three letters, and those that every machine has, such as root and localhost, are passed over: they name nobody.
func NewRedactor(hosts, users []string) *Redactor {
	r := &Redactor{rules: patternRules()}
	r.literals("host name", "[host]", hosts)
	r.literals("user name", "[user]", users)
	return r
}

// commonNames name nobody.
func commonNames() []string {
	return []string{"root", "user", "nobody", "admin", "localhost", "localhost.localdomain", "host", "server", "client"}
}

func (r *Redactor) literals(kind, stand string, names []string) {
	for _, name := range names {
		if len(name) < 3 || slices.Contains(commonNames(), strings.ToLower(name)) {
			continue
		}
		r.rules = append(r.rules, redactRule{
			Name: kind, Words: "the " + kind + " of this machine",
			find:    regexp.MustCompile(`(?i)(^|[^A-Za-z0-9_])(` + regexp.QuoteMeta(name) + `)($|[^A-Za-z0-9_])`),
			replace: func(text string, at []int) string { return text[at[2]:at[3]] + stand + text[at[6]:at[7]] },
		})
	}
}

// Rules describes what is looked for, one line each.
func (r *Redactor) Rules() []string {
	var out []string
	for _, rule := range r.rules {
		out = append(out, rule.Name+": "+rule.Words)
	}
	return out
}

// Text returns a text with everything replaced. Redacting it again changes nothing.
func (r *Redactor) Text(s string) string {
	return settle(s, func(s string) string {
		for _, rule := range r.rules {
			s = rule.apply(s)
		}
		return s
	})
}

// settle repeats a change until nothing is left to change: what stands for one match can set free another, and a match
// takes the separator that the next one needs. Every change makes fewer of the characters that rules begin with, so
// that there is an end; the bound is for rules that break this.
func settle(s string, change func(string) string) string {
	for range 32 {
		next := change(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

func (rule redactRule) apply(s string) string {
	matches := rule.find.FindAllStringSubmatchIndex(s, -1)
	if matches == nil {
		return s
	}
	var out strings.Builder
	last := 0
	for _, at := range matches {
		out.WriteString(s[last:at[0]])
		out.WriteString(rule.replace(s, at))
		last = at[1]
	}
	return out.String() + s[last:]
}

// JSON redacts JSON text: the string literals as what they mean, whatever their escapes, and then the text as it
// stands. Numbers, order and spaces stay. Text that is not valid JSON is redacted as far as its literals can be read.
func (r *Redactor) JSON(s string) string {
	return settle(s, func(s string) string { return r.Text(eachLiteral(s, r.literal)) })
}

func (r *Redactor) literal(literal string) string {
	var v string
	if json.Unmarshal([]byte(literal), &v) != nil {
		return literal
	}
	clean := r.Text(v)
	if clean == v {
		return literal
	}
	data, err := json.Marshal(clean)
	if err != nil {
		return `"[unreadable]"`
	}
	return string(data)
}

// eachLiteral rewrites the string literals of JSON text.
func eachLiteral(s string, rewrite func(string) string) string {
	var out strings.Builder
	for {
		start := strings.IndexByte(s, '"')
		if start < 0 {
			break
		}
		end := start + 1
		for end < len(s) && s[end] != '"' && s[end] != '\n' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) {
			break
		}
		out.WriteString(s[:start])
		out.WriteString(rewrite(s[start : end+1]))
		s = s[end+1:]
	}
	return out.String() + s
}

// privateAddress reports whether a text is an IP address that says where a machine is.
func privateAddress(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && !a.IsLoopback() && !a.IsUnspecified()
}
