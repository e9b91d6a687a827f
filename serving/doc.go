// Package serving serves models over HTTP in the forms that existing clients speak, and keeps one record of every
// request that it is offered.
package serving
