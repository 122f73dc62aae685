"""Benchmarks: `python -m context_gc.benchmark speed`. Figures are ratios within one run: machines are noisy."""
