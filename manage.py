#!/usr/bin/env python
"""Tandem's commands: `python manage.py help` lists them."""

from config.cli import main

if __name__ == "__main__":
    main()
