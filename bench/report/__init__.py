"""The parts of bench/render: from the record of a run to docs/benchmarks.md and docs/benchmarks.html."""
