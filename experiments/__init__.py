"""What takes minutes and whose results ship: run by `make experiments`, read by the notebooks."""
