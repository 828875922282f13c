"""What the command line decides before any library is imported."""
threads = 1
