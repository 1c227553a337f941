"""What shows how a method made its release: one module per method, named after it, with `render(run)`."""
