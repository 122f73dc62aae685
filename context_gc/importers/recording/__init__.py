"""Recording: what an importer reads, message by message -> the events, windows and usage of a trace."""
