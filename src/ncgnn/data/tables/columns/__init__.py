"""What a column of a table holds: numbers, dates, categories or text, each learnt once and replayed later."""
