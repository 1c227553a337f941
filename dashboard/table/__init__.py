"""The page Table, and the tables that it loads."""
