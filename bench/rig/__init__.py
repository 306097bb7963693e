"""The parts of bench/bars: machine, processes, traffic, verdicts and the bars themselves."""
