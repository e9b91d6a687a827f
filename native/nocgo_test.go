//go:build !cgo

package native_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trtmc-go/trtmc/native"
)

func TestWithoutCgoOpenSaysSo(t *testing.T) {
	for _, opts := range []native.Options{{}, {Library: "/opt/trtmc/lib/libtrtmc_c.so.1"}} {
		rt, err := native.Open(opts)
		require.ErrorIs(t, err, native.ErrNoCgo)
		require.Nil(t, rt)
		require.NoError(t, rt.Close())
	}
}
