"""Many releases at once: candidates, sweeps over parameters, the cheapest one that keeps targets, the choice of k."""
