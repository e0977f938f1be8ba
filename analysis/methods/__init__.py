"""The methods of the papers: pure numpy, scipy and torch, nothing of the server."""
