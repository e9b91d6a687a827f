package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/trtmc-go/trtmc/qual"
)

// folderFlags are those that work on finished folders.
type folderFlags struct {
	compare [2]string // two folders, or none
	publish string
	redact  string
}

func (f *folderFlags) defineFolders(fs *flag.FlagSet) {
	fs.StringVar(&f.compare[0], "compare", "", "compare the finished `folder` with the one that follows, print Markdown and run nothing")
	fs.StringVar(&f.publish, "publish", "", "after judging, write a redacted copy into this new `folder` and scan it")
	fs.StringVar(&f.redact, "redact", "", "comma separated `names` of hosts and users that -publish replaces, besides those of this machine")
}

// takeArguments accepts the second folder of -compare and nothing else.
func (f *folderFlags) takeArguments(args []string) error {
	switch {
	case f.compare[0] == "" && len(args) > 0:
		return fmt.Errorf("unexpected argument %q; everything is a flag", args[0])
	case f.compare[0] != "" && len(args) != 1:
		return fmt.Errorf("-compare: want two folders, as in -compare A B, got %d", 1+len(args))
	case f.compare[0] != "" && f.publish != "":
		return errors.New("-compare and -publish: want one of them")
	case f.redact != "" && f.publish == "":
		return errors.New("-redact: it belongs to -publish")
	case f.compare[0] != "":
		f.compare[1] = args[0]
	}
	return nil
}

// compareFolders prints what two folders differ in.
func (f *folderFlags) compareFolders(out io.Writer) error {
	c, err := qual.Compare(f.compare[0], f.compare[1])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "A: %s\nB: %s\n\n%s", f.compare[0], f.compare[1], c.Markdown())
	return err
}

// maxLeaks is how many leaks are printed.
const maxLeaks = 20

// publishFolder writes the redacted copy of a folder and prints the proof that nothing private is in it. Leaks are an
// error.
func (f *folderFlags) publishFolder(dir string, out io.Writer) error {
	hosts, users := localNames()
	extra := strings.FieldsFunc(f.redact, func(c rune) bool { return c == ',' || c == ' ' })
	p, err := qual.Publish(dir, f.publish, qual.NewRedactor(append(hosts, extra...), users))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nredacted copy: %s\nsomething replaced in run.json and %d other files, %d files left out\n", f.publish, len(p.Changed), len(p.LeftOut))
	for _, name := range p.LeftOut {
		fmt.Fprintln(out, "  left out:", name)
	}
	fmt.Fprintf(out, "scanned %d files for\n", p.Files)
	for _, rule := range p.Rules {
		fmt.Fprintln(out, "  "+rule)
	}
	for i, leak := range p.Leaks {
		if i == maxLeaks {
			break
		}
		fmt.Fprintf(out, "  FOUND %s, %s:%d\n", leak.Rule, leak.File, leak.Line)
	}
	if len(p.Leaks) > 0 {
		return fmt.Errorf("publish: %d places in %s are not fit for publication", len(p.Leaks), f.publish)
	}
	fmt.Fprintln(out, "nothing found")
	return nil
}

// localNames are the names of this machine and of who runs the program, as far as the system tells them.
func localNames() (hosts, users []string) {
	if name, err := os.Hostname(); err == nil {
		host, _, _ := strings.Cut(name, ".")
		hosts = []string{name, host}
	}
	for _, key := range []string{"USER", "LOGNAME", "USERNAME", "SUDO_USER"} {
		users = append(users, os.Getenv(key))
	}
	if u, err := user.Current(); err == nil {
		users = append(users, u.Username, u.Name)
	}
	if home, err := os.UserHomeDir(); err == nil {
		users = append(users, filepath.Base(home))
	}
	return hosts, users
}
