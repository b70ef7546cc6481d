"""Gates: judge a recorded run by a policy as GO, NO-GO or INCONCLUSIVE. Baselines by name and as portable files."""
