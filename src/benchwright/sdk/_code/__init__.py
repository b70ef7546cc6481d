"""Evaluations that are programs of the user's own: started, watched, recorded to their end, resumed."""
