"""Multiple choice: reads an option letter from a reply, with the rule and the characters that decided."""
