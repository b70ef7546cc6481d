"""Durable workflows: ordinary async Python whose steps are recorded, replayed and resumed."""
