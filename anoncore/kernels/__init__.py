"""Hot loops, compiled with numba; each has a plain twin in the tests.

A kernel works on flat arrays of numbers: codes of values, row numbers, counts. Every file begins with what its arrays
are: name, type, shape and meaning. Where several arrays describe one thing they are a NamedTuple, whose docstring says
the same of its fields. Four conventions hold in all files:

- A code is the number of a value in its attribute's domain, 0..n_codes-1. A missing value has a code of its own.
- Lists of different lengths stand one after the other in one array; an array of starts, with one entry more than there
  are lists, says where each begins. List i is `values[starts[i]:starts[i + 1]]`.
- Rows by group: `order` int64 (n_rows,) lists the row numbers group by group, `starts` says where each group begins.
- A range lo..hi-1 or begin..end-1 excludes its end, low..high includes it.
"""
