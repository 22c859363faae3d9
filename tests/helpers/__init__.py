"""What tests share: small graphs and models, references to compare with, and readers of what is written."""
