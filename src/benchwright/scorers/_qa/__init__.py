"""Free answers: one pass, several metrics, so that nobody has to know beforehand which one is fair."""
