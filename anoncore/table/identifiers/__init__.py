"""The 18 kinds of identifiers of HIPAA's safe harbor: found by names and values of columns, and mended."""
