"""Task selection policies, compared by trained models."""
