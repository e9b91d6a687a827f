package trace

import (
	_ "embed"
	"math/bits"
	"strings"
)

// PromptSynthesis names the rule by which prompts are made. Equal names, seeds and block ids give equal words.
const PromptSynthesis = "words/1"

// wordList holds 1,024 common English words of at most six letters, so that ordinary BPE tokenizers make about one
// token of each.
//
//go:embed words.txt
var wordList string

const wordCount = 1024

// domain keeps the words of blocks, of rows without block ids and of warm-up apart.
type domain uint64

const (
	domainBlock  domain = 1
	domainRow    domain = 2
	domainWarmup domain = 4 // added to one of the others
)

// prompter makes prompts.
type prompter struct {
	seed  uint64
	words []string
}

func newPrompter(seed uint64) *prompter { return &prompter{seed, strings.Fields(wordList)} }

// appendBlock appends the first n words of a block to b, each with a space before it.
func (p *prompter) appendBlock(b []byte, d domain, id uint64, n int) []byte {
	state := mix(mix(p.seed^uint64(d)*0x9e3779b97f4a7c15) + id)
	for n > 0 {
		state += 0x9e3779b97f4a7c15
		draw := mix(state)
		for range min(n, 6) { // of ten bits each
			b = append(b, ' ')
			b = append(b, p.words[draw%wordCount]...)
			draw >>= 10
			n--
		}
	}
	return b
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendPrompt appends a prompt of n words for a row, without a space before the first. The words of block k stand
// between the scaled ends of k and k+1 full blocks, so that equal leading blocks stay equal leading words.
func (p *prompter) appendPrompt(b []byte, req *Request, n, blockSize int, by ratio, warmup bool) []byte {
	d := domainBlock
	if len(req.BlockIDs) == 0 {
		d = domainRow
	}
	if warmup {
		d |= domainWarmup
	}
	from := len(b)
	if d&domainRow != 0 {
		b = p.appendBlock(b, d, uint64(req.Line), n)
	}
	start := 0
	for k, id := range req.BlockIDs {
		end := n
		if k+1 < len(req.BlockIDs) {
			end = min(by.of((k+1)*blockSize), n)
		}
		b = p.appendBlock(b, d, uint64(id), end-start)
		start = end
	}
	return append(b[:from], b[from+1:]...) // n is 1 or more, so there is a first space
}

// ratio is a factor of at most 1; the zero value is 1.
type ratio struct{ num, den int }

// of returns v times the ratio, rounded down.
func (r ratio) of(v int) int {
	if r.den == 0 {
		return v
	}
	hi, lo := bits.Mul64(uint64(v), uint64(r.num))
	q, _ := bits.Div64(hi, lo, uint64(r.den))
	return int(q)
}

// less reports whether r is smaller than s.
func (r ratio) less(s ratio) bool {
	if r.den == 0 {
		return false
	}
	if s.den == 0 {
		return r.num < r.den
	}
	h1, l1 := bits.Mul64(uint64(r.num), uint64(s.den))
	h2, l2 := bits.Mul64(uint64(s.num), uint64(r.den))
	return h1 < h2 || h1 == h2 && l1 < l2
}
