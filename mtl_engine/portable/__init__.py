"""Files that leave with a model: they run where nothing of this library is installed."""
