"""Speed and memory of NCGNN beside its peers: ``python -m benchmarks``."""
