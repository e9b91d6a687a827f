package video

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// lockWait is how long OpenBolt waits for another process to let go of the file.
const lockWait = time.Second

// BoltStore is a [Store] in one local file. Every change is on disk when it returns. One process opens it at a time.
type BoltStore struct {
	db *bbolt.DB
}

func bucketName() []byte { return []byte("jobs-v1") }

// OpenBolt opens the store at path and makes it when it is not there.
func OpenBolt(path string) (*BoltStore, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
	if err != nil {
		return nil, fmt.Errorf("open job store %q (is another process using it?): %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucketName())
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open job store %q: %w", path, err), db.Close())
	}
	return &BoltStore{db: db}, nil
}

// Close waits for calls in flight and closes the file. Later calls fail.
func (s *BoltStore) Close() error { return s.db.Close() }

// Job implements [Reader].
func (s *BoltStore) Job(ctx context.Context, id string) (Job, error) {
	var j Job
	err := s.view(ctx, func(b *bbolt.Bucket) (err error) {
		j, err = load(b, id)
		return err
	})
	return j, err
}

// List implements [Reader].
func (s *BoltStore) List(ctx context.Context, q Query) (Page, error) {
	var p Page
	err := s.view(ctx, func(b *bbolt.Bucket) error {
		c := b.Cursor()
		step := c.Next
		if q.Descending {
			step = c.Prev
		}
		for k, v := begin(c, q); k != nil; k, v = step() {
			if len(p.Jobs) == q.Limit {
				p.More = true
				return nil
			}
			j, err := decodeJob(v)
			if err != nil {
				return err
			}
			p.Jobs = append(p.Jobs, j)
		}
		return nil
	})
	return p, err
}

// begin places the cursor on the first job of a page.
func begin(c *bbolt.Cursor, q Query) (k, v []byte) {
	switch {
	case q.After == "" && q.Descending:
		return c.Last()
	case q.After == "":
		return c.First()
	}
	k, v = c.Seek([]byte(q.After)) // the first key that is not before After
	switch {
	case q.Descending && k == nil:
		return c.Last()
	case q.Descending:
		return c.Prev()
	case string(k) == q.After:
		return c.Next()
	}
	return k, v
}

// Create implements [Writer].
func (s *BoltStore) Create(ctx context.Context, j Job) error {
	return s.update(ctx, func(b *bbolt.Bucket) error {
		if b.Get([]byte(j.ID)) != nil {
			return fmt.Errorf("create job %s: %w", j.ID, ErrJobExists)
		}
		return save(b, j)
	})
}

// Update implements [Writer].
func (s *BoltStore) Update(ctx context.Context, id string, change func(Job) (Job, error)) (Job, error) {
	var j Job
	err := s.update(ctx, func(b *bbolt.Bucket) (err error) {
		if j, err = load(b, id); err != nil {
			return err
		}
		if j, err = change(j); err != nil {
			return err
		}
		return save(b, j)
	})
	return j, err
}

// Delete implements [Writer].
func (s *BoltStore) Delete(ctx context.Context, id string) (Job, error) {
	var j Job
	err := s.update(ctx, func(b *bbolt.Bucket) (err error) {
		if j, err = load(b, id); err != nil {
			return err
		}
		return b.Delete([]byte(id))
	})
	return j, err
}

func (s *BoltStore) view(ctx context.Context, do func(*bbolt.Bucket) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.View(func(tx *bbolt.Tx) error { return do(tx.Bucket(bucketName())) })
}

func (s *BoltStore) update(ctx context.Context, do func(*bbolt.Bucket) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error { return do(tx.Bucket(bucketName())) })
}

func load(b *bbolt.Bucket, id string) (Job, error) {
	v := b.Get([]byte(id))
	if v == nil {
		return Job{}, fmt.Errorf("job %s: %w", clip(id), ErrNoJob)
	}
	return decodeJob(v)
}

func decodeJob(v []byte) (Job, error) {
	var j Job
	if err := json.Unmarshal(v, &j); err != nil {
		return Job{}, fmt.Errorf("read stored job: %w", err)
	}
	return j, nil
}

func save(b *bbolt.Bucket, j Job) error {
	v, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("store job %s: %w", j.ID, err)
	}
	return b.Put([]byte(j.ID), v)
}
