"""What pages share: links, forms, tables, charts and questions."""
