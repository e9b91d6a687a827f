package video

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTransitionTable(t *testing.T) {
	all := []State{Queued, InProgress, Completed, Failed, "cancelled", ""}
	allowed := map[[2]State]bool{
		{Queued, InProgress}: true, {Queued, Failed}: true, {InProgress, Completed}: true, {InProgress, Failed}: true,
	}
	for _, from := range all {
		for _, to := range all {
			require.Equal(t, allowed[[2]State{from, to}], from.CanBecome(to), "%s to %s", from, to)
		}
		require.Equal(t, from == Completed || from == Failed, from.Final())
	}
}

// FuzzTransitions lets any sequence of steps loose on a job.
func FuzzTransitions(f *testing.F) {
	f.Add([]byte{0, 1})
	f.Add([]byte{0, 2, 1, 0})
	f.Add([]byte{2, 2})
	f.Fuzz(func(t *testing.T, steps []byte) {
		now := time.Unix(1, 0)
		j := Job{ID: "video_1", State: Queued, CreatedAt: now}
		for _, step := range steps {
			before := j
			now = now.Add(time.Second)
			var after Job
			var err error
			switch step % 3 {
			case 0:
				after, err = j.start(now)
			case 1:
				after, err = j.complete(now, time.Hour, Artifact{Frames: 1}, Times{TaskCall: 1})
			case 2:
				after, err = j.fail(now, time.Hour, Failure{Code: "c", Message: "m"}, Times{})
			}
			if err != nil {
				require.ErrorIs(t, err, ErrTransition)
				require.Equal(t, before, j, "a refused step changes nothing")
				continue
			}
			require.False(t, before.State.Final(), "a final state was left")
			j = after
			require.Equal(t, j.State == Completed, j.Progress == 100)
			require.Equal(t, j.State == Completed, j.Artifact != nil)
			require.Equal(t, j.State == Failed, j.Failure != nil)
			require.Equal(t, j.State.Final(), !j.ExpiresAt.IsZero())
			b, err := json.Marshal(j)
			require.NoError(t, err)
			var back Job
			require.NoError(t, json.Unmarshal(b, &back))
			require.Equal(t, j.State, back.State)
			require.True(t, j.ExpiresAt.Equal(back.ExpiresAt))
		}
	})
}

func TestIDsRise(t *testing.T) {
	a, b := newID(1), newID(2)
	require.Less(t, a, b)
	require.NotEqual(t, newID(1), a)
	n, ok := idNumber(b)
	require.True(t, ok)
	require.EqualValues(t, 2, n)
	for _, bad := range []string{"", "video_", b[:len(b)-1], b + "0", "video_" + "A" + b[7:], "../" + b} {
		_, ok := idNumber(bad)
		require.False(t, ok, bad)
	}
}
