// Package aiperf runs NVIDIA AIPerf 0.13.0 as a client, reads what it exports, and finds what the exports hide.
package aiperf
