"""Rothko: Mondrian for tables that do not fit in memory, by counts or by samples."""
