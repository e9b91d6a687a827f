package qual

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/trtmc-go/trtmc/video"
)

// download saves clip and poster and checks that the clip is whole and the one that the job promises.
func (x *videoExchange) download(ctx context.Context, path string, job *jobAnswer) error {
	ctx, cancel := context.WithTimeout(ctx, lastQuestion)
	defer cancel()
	v := x.row.Video
	content := path + "/" + job.ID + "/content"
	clip := filepath.Join(x.run.dir, ArtifactDir, x.row.RequestID+".mp4")
	v.DownloadStartNS = int64(x.run.clock.Now())
	n, sum, err := x.fetch(ctx, content, "video/mp4", clip)
	v.DownloadEndNS = int64(x.run.clock.Now())
	if err != nil {
		return err
	}
	v.ArtifactBytes, v.ArtifactSHA256 = n, sum
	if err := checkClip(clip, job.Artifact, sum); err != nil {
		return err
	}
	poster := filepath.Join(x.run.dir, ArtifactDir, x.row.RequestID+".jpg")
	_, _, err = x.fetch(ctx, content+"?variant="+string(video.ThumbnailJPEG), "image/jpeg", poster)
	return err
}

// checkClip checks a saved clip against what the job promises, which a foreign server may leave out.
func checkClip(path string, want *video.Artifact, sum string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if want == nil {
		_, err := video.CheckMP4(f, info.Size())
		return err
	}
	if want.SHA256 != sum {
		return fmt.Errorf("the clip has sha256 %.12s, the job says %.12s", sum, want.SHA256)
	}
	return want.Verify(f, info.Size())
}

// fetch saves an answer of that type to a file.
func (x *videoExchange) fetch(ctx context.Context, path, mediaType, to string) (n int64, sum string, err error) {
	req, err := x.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Accept", mediaType)
	res, err := x.run.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != mediaType {
		return 0, "", fmt.Errorf("want status 200 and %s, got %d and %q", mediaType, res.StatusCode, res.Header.Get("Content-Type"))
	}
	f, err := os.Create(to)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(f, h), res.Body)
	return n, hex.EncodeToString(h.Sum(nil)), err
}
