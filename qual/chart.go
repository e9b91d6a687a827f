package qual

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is one plot of a report. Its lines are drawn in their order, each with a colour and a dash of its own, so that
// they can be told apart in print too.
type chart struct {
	Title  string
	x, y   string // axes with their units
	lines  []chartLine
	log    bool // logarithmic x axis
	zero   bool // the y axis starts at 0
	whole  bool // y counts things: no ticks between whole numbers
	times  bool // x is time in windows of whole seconds
	Remark string
}

// chartLine is one line of a chart; lines without points are left out.
type chartLine struct {
	name   string
	points plotter.XYs
}

// The size of a chart in points. It is small so that its letters stay legible when it is as wide as a phone.
const (
	chartWidth  vg.Length = 440
	chartHeight vg.Length = 270
)

// chartKey is one line's entry beside a chart.
type chartKey struct {
	Name  string
	Color string // for CSS
	Dash  string // for stroke-dasharray
}

// keys names the lines that the chart has.
func (c *chart) keys() []chartKey {
	var out []chartKey
	for i, l := range c.lines {
		if len(l.points) == 0 {
			continue
		}
		r, g, b, _ := chartColor(i).RGBA()
		key := chartKey{Name: l.name, Color: fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)}
		for _, d := range chartDashes(i) {
			key.Dash += fmt.Sprintf("%g ", float64(d))
		}
		out = append(out, key)
	}
	return out
}

// chartColor is readable on white, apart from each other for colour-blind eyes, and apart in lightness.
func chartColor(i int) color.Color {
	return []color.Color{
		color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}, color.RGBA{R: 0xd0, G: 0x5a, B: 0x00, A: 0xff},
		color.RGBA{R: 0x1b, G: 0x7a, B: 0x4b, A: 0xff}, color.RGBA{R: 0x8a, G: 0x2d, B: 0x7c, A: 0xff},
	}[i%4]
}

func chartDashes(i int) []vg.Length {
	return [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}[i%4]
}

// SVG draws the chart for the inside of an HTML page. Equal charts give equal bytes.
func (c *chart) SVG() (template.HTML, error) {
	p := plot.New()
	c.style(p)
	for i, l := range c.lines {
		if len(l.points) == 0 {
			continue
		}
		line, err := plotter.NewLine(l.points)
		if err != nil {
			return "", fmt.Errorf("chart %q, line %q: %w", c.Title, l.name, err)
		}
		line.Width, line.Color, line.Dashes = 1.8, chartColor(i), chartDashes(i)
		p.Add(line)
	}
	if c.zero {
		p.Y.Min = 0
		p.Y.Max = max(p.Y.Max*1.05, 1)
	}
	if c.log {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = plot.TickerFunc(logTicks)
		// A range within one tick would have no label.
		if p.X.Max < 2*p.X.Min {
			p.X.Max = 2 * p.X.Min
		}
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(chartWidth, chartHeight))
	inner := draw.Crop(draw.New(canvas), 4, -12, 4, -4)
	p.Draw(inner)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", fmt.Errorf("chart %q: %w", c.Title, err)
	}
	return inlineSVG(out.String(), c.Title), nil
}

// style sets fonts, axes and grid.
func (c *chart) style(p *plot.Plot) {
	sans := func(size vg.Length) font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size} }
	p.X.Label.Text, p.Y.Label.Text = c.x, c.y
	p.X.Label.TextStyle.Font, p.Y.Label.TextStyle.Font = sans(12), sans(12)
	p.X.Tick.Label.Font, p.Y.Tick.Label.Font = sans(11), sans(11)
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(linearTicks), plot.TickerFunc(linearTicks)
	if c.whole {
		p.Y.Tick.Marker = plot.TickerFunc(wholeTicks)
	}
	if c.times {
		p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xdd}, color.Gray{0xdd}
	grid.Vertical.Dashes, grid.Horizontal.Dashes = nil, nil
	p.Add(grid)
}

// inlineSVG turns a document into an element: no prolog, no name spaces, a size that follows the page, and a name for
// those who cannot see it.
func inlineSVG(doc, title string) template.HTML {
	_, rest, _ := strings.Cut(doc, "<svg")
	_, body, _ := strings.Cut(rest, ">")
	head := fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %g %g">`,
		template.HTMLEscapeString(title), float64(chartWidth), float64(chartHeight))
	body = strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	return template.HTML(head + body)
}

// linearTicks are about five round values.
func linearTicks(low, high float64) []plot.Tick { return roundTicks(low, high, 0) }

// wholeTicks are about five whole numbers.
func wholeTicks(low, high float64) []plot.Tick { return roundTicks(low, high, 1) }

func roundTicks(low, high, least float64) []plot.Tick {
	step := max(roundStep((high-low)/6), least)
	if step <= 0 || math.IsNaN(step) || math.IsInf(step, 0) {
		return []plot.Tick{{Value: low, Label: tickLabel(low)}}
	}
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: tickLabel(i * step)})
	}
	return out
}

// roundStep is the smallest of 1, 2 and 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	if v <= 0 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks are 1, 2 and 5 times the powers of ten, only the powers when the range is wide.
func logTicks(low, high float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	if high/low > 200 {
		steps = steps[:1]
	}
	var out []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: tickLabel(v)})
			}
		}
	}
	return out
}

func tickLabel(v float64) string {
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// perWindow turns counts into a stepped line, each window as wide as it lasts, with the counts divided by scale.
func perWindow(counts []int, seconds int, scale float64) plotter.XYs {
	if len(counts) == 0 || slices.Max(counts) == 0 {
		return nil
	}
	var out plotter.XYs
	for i, n := range counts {
		y := float64(n) / scale
		out = append(out, plotter.XY{X: float64(i * seconds), Y: y}, plotter.XY{X: float64((i + 1) * seconds), Y: y})
	}
	return out
}
