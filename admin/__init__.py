"""Web pages for whoever operates the product: traces, how it goes, what was asked, once more."""
