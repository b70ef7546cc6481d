"""Numbers in running text: a number is read as a whole, in whatever notation, or not at all."""
