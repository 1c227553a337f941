"""Methods that publish other values than those of the table."""
