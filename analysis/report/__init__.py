"""What a study says: tables with intervals, curves, comparisons; as Markdown, CSV, PNG, HTML."""
