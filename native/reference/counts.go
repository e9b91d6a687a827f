package reference

// Counts is the number of live native objects by type. A stream that outlives its model's handle keeps the model.
type Counts struct {
	Models  int
	Results int
	Errors  int
	Bundles int
	Streams int
}
