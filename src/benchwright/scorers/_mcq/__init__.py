"""Multiple choice: from a model's words to an option letter, with the rule and the characters that decided."""
