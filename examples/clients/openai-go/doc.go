// Package openaigo drives our servers with OpenAI's Go SDK, unmodified. It is a module of its own, so that the SDK and
// what it brings along are no dependency of ours.
package openaigo
