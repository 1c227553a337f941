"""What shows an attack on a release: one module per attack, with `render(run)`."""
