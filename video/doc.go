// Package video turns the Task text_to_video into jobs with playable, checked MP4 files, and serves them in the form of
// OpenAI's /v1/videos.
package video
