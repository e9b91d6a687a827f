package qual

// Join settles every request and counts, which is what Close begins with.
func (l *Ledger) Join() (Workload, []Finding) {
	for i := range l.entries.n {
		l.settle(i)
	}
	return l.count(0), l.findings
}
