"""Widgets for fields that one input box cannot hold: one module per form of field."""
