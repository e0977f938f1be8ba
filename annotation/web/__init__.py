"""What every page and every REST resource shares."""
