"""Several models on several datasets in one table."""
