"""Releases in parts: folders of Parquet files that are certified, verified and reported without loading them."""
