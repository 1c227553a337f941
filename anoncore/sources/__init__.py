"""Tables out of files: CSV, Parquet and Excel become a DataFrame, with a sentence for everything that was decided."""

from anoncore.sources.reader import TableSource, read_table, table_sheets

__all__ = ["TableSource", "read_table", "table_sheets"]
