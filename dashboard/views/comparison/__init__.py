"""What the page Compare shows of several runs: one module per tab."""
