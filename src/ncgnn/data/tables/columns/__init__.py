"""Column kinds: numbers, dates, categories and text. Each encoding is fitted once and reused for later tables."""
