"""The two calls that most people need: judge a table as it is, and make a release of it."""
