"""What a table of people is: columns with roles, values with codes, hierarchies over them, and its summary."""
