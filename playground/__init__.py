"""Everything to try the product with on one machine: the sample company and the demo."""
