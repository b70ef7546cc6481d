"""Two runs side by side: their numbers, the same samples paired, and what must not be compared at all."""
