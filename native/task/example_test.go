package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trtmc-go/trtmc/native/task"
)

// shout is a whole model in Go: any engine can stand behind the interfaces.
type shout struct{}

func (shout) Info() task.Info {
	return task.Info{Family: "shout", Tasks: []task.Decl{{ID: task.TextContinuation, Major: 1}}}
}

func (s shout) Lookup(id task.ID) (any, error) {
	if id == task.TextContinuation {
		return s, nil
	}
	return nil, task.Unsupported(id)
}

func (shout) Close() error { return nil }

func (shout) ContinueText(ctx context.Context, req task.TextRequest) (task.TextResult, error) {
	if ctx.Err() != nil {
		return task.TextResult{}, context.Cause(ctx)
	}
	return task.TextResult{Text: strings.ToUpper(req.Text)}, nil
}

func Example() {
	var model task.Model = shout{}
	text, err := task.TextContinuerOf(model)
	if err != nil {
		panic(err)
	}
	res, err := text.ContinueText(context.Background(), task.TextRequest{Text: "we the people"})
	fmt.Println(res.Text, err)

	_, err = task.ScorerOf(model)
	fmt.Println(errors.Is(err, task.ErrUnsupported), err)
	// Output:
	// WE THE PEOPLE <nil>
	// true text_query_documents_to_relevance: lookup: unsupported: the model does not declare this task
}
