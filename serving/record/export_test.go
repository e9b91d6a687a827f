package record

// AppendRecord is the encoder behind Append.
var AppendRecord = appendRecord
