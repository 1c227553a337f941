"""What is published: fragments, the partition of the rows, and how each attribute is recoded."""
