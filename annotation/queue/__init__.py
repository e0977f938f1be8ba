"""Asks, leases, drafts and submissions."""
