package video

import "context"

// Reader finds jobs.
type Reader interface {
	// Job returns a snapshot; the error wraps ErrNoJob when there is no such job.
	Job(ctx context.Context, id string) (Job, error)
	// List returns jobs in the order of their ids.
	List(ctx context.Context, q Query) (Page, error)
}

// Writer changes jobs.
type Writer interface {
	// Create stores a new job; the error wraps ErrJobExists when its id is taken.
	Create(ctx context.Context, j Job) error
	// Update replaces a job by what change makes of it, with no other change between: it returns the stored snapshot.
	// The error wraps ErrNoJob when there is no such job, so a deleted job never comes back; an error of change is
	// returned as it is and leaves the job as it was. Change may be called more than once.
	Update(ctx context.Context, id string, change func(Job) (Job, error)) (Job, error)
	// Delete removes a job and returns its last snapshot; the error wraps ErrNoJob when there is no such job.
	Delete(ctx context.Context, id string) (Job, error)
}

// Store keeps jobs. What it acknowledged survives a crash of the process and of the machine. Each change is atomic: a
// reader sees a job before it or after it. All methods are safe for concurrent use, and a context that has ended keeps
// them from starting. Package videotest judges implementations.
type Store interface {
	Reader
	Writer
}

// Query asks for part of a list.
type Query struct {
	After      string // the id to go on behind, which need not exist any more; empty: from the beginning
	Limit      int    // at most so many jobs, at least 1
	Descending bool   // latest first
}

// Page is part of a list.
type Page struct {
	Jobs []Job
	More bool // there are jobs behind the last one of this page
}
