"""What is measured against limits and peers; run by ``make bench``, never by the tests."""
