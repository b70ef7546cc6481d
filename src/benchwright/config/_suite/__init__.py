"""Suite files: several models, several datasets, every pair one run."""
