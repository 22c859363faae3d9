"""Speed and memory of NCGNN and other models: ``python -m benchmarks``."""
