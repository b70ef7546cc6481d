"""From a row to requests and an answer: one file for each strategy that `core` declares."""
