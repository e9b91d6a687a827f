package trtmc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/trtmc-go/trtmc/"

// mayImport lists, per package directory, the sibling packages its non-test files may import.
// The reasons are in doc.go; a package missing here fails the test, so that a new one is placed on purpose.
var mayImport = map[string][]string{
	".":                          {},
	"internal/monotime":          {},
	"internal/jsonscan":          {},
	"internal/jsonscan/scantest": {},
	"native/task":                {},
	"native/bundle":              {},
	"native/tasktest":            {"native/task"},
	"native/internal/cabi":       {},
	"native/reference":           {"native/bundle"},
	"native":                     {"native/task", "native/bundle", "native/internal/cabi", "native/reference"},
	"trace":                      {"internal/monotime", "internal/jsonscan"},
	"ranking":                    {"native/task"},
	"video":                      {"native/task"},
	"video/videotest":            {"video"},
	"serving/record":             {"internal/jsonscan"},
	"serving":                    {"native/task", "ranking", "video", "serving/record", "internal/monotime"},
	"qual/aiperf":                {},
	"qual/inventory":             {"native/task"},
	"qual":                       {"native/task", "ranking", "video", "trace", "serving/record", "internal/monotime", "qual/aiperf", "qual/inventory"},
}

// mayUseC lists the only packages that may import "C".
var mayUseC = []string{"native/internal/cabi", "native/reference"}

// thirdParty limits what leaf packages pull in from other modules; packages not listed are free to choose.
var thirdParty = map[string][]string{
	"native/task":       {},
	"native/bundle":     {},
	"internal/monotime": {},
	"internal/jsonscan": {},
	"serving/record":    {},
	"trace":             {"github.com/klauspost/compress", "golang.org/x/sync"},
	"ranking":           {},
	"qual/aiperf":       {},
	"qual/inventory":    {},
}

func TestLayering(t *testing.T) {
	walkGo(t, func(file string, f *ast.File) {
		pkg := path.Dir(file)
		allowed, known := mayImport[pkg]
		free := strings.HasPrefix(pkg, "examples/")
		if !known && !free {
			t.Errorf("%s: package is not in the layering table", pkg)
			return
		}
		for _, spec := range f.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if target == "C" && !slices.Contains(mayUseC, pkg) {
				t.Errorf(`%s: import "C" outside %v`, file, mayUseC)
			}
			rel, ours := strings.CutPrefix(target, modulePath)
			switch {
			case ours && strings.HasPrefix(rel, "examples/"):
				t.Errorf("%s: nothing may import %s", file, rel)
			case ours && !free && !slices.Contains(allowed, rel):
				t.Errorf("%s: %s may not import %s", file, pkg, rel)
			case !ours:
				checkThirdParty(t, file, pkg, target)
			}
		}
	})
}

func checkThirdParty(t *testing.T, file, pkg, target string) {
	t.Helper()
	allowed, limited := thirdParty[pkg]
	host, _, _ := strings.Cut(target, "/")
	if !limited || !strings.Contains(host, ".") {
		return
	}
	if !slices.ContainsFunc(allowed, func(m string) bool { return target == m || strings.HasPrefix(target, m+"/") }) {
		t.Errorf("%s: %s may not import %s", file, pkg, target)
	}
}

// TestEveryPackageIsDocumented wants exactly one package comment, in doc.go (main packages: anywhere).
func TestEveryPackageIsDocumented(t *testing.T) {
	comments := map[string][]string{}
	names := map[string]string{}
	walkGo(t, func(file string, f *ast.File) {
		pkg := path.Dir(file)
		names[pkg] = f.Name.Name
		if f.Doc != nil && strings.TrimSpace(f.Doc.Text()) != "" {
			comments[pkg] = append(comments[pkg], file)
		}
	})
	for pkg, name := range names {
		require.Len(t, comments[pkg], 1, "package %s: want one package comment", pkg)
		if name != "main" && !strings.HasPrefix(pkg, "internal/") {
			require.Equal(t, "doc.go", path.Base(comments[pkg][0]), "package %s", pkg)
		}
	}
}

func walkGo(t *testing.T, visit func(file string, f *ast.File)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			_, errMod := os.Stat(path.Join(p, "go.mod"))
			if p != "." && (errMod == nil || name == "testdata" || strings.HasPrefix(name, ".") || name == "out") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		visit(p, f)
		return nil
	})
	require.NoError(t, err)
}
