"""What a run showed, as a document, a CSV and a page."""
