// Package tasktest judges implementations of package task, in the manner of testing/slogtest.
//
// Each case has a name, a rule in one sentence and a check. [Run] runs them as subtests; [Check] returns what was broken
// as one error, for callers outside a test. A case whose Task the model does not declare is skipped and says so. A model
// that departs from a rule on purpose names the case in Config.Deviations with the reason, which is then shown beside
// the skipped case; nothing is passed over in silence.
//
//	func TestModel(t *testing.T) {
//		tasktest.Run(t, tasktest.Config{
//			Open:  func() (task.Model, error) { return rt.Load(path, native.LoadOptions{}) },
//			Tasks: []task.ID{task.TextContinuation},
//		})
//	}
//
// The kit opens a new model for each case and closes it. It asks for short answers where the model declares the usual
// fields (max_new_tokens, seed); Config.Settings replaces these per Task.
package tasktest
