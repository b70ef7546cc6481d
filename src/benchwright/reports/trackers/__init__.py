"""Trackers: programs that follow runs while they run. Weights & Biases and MLflow are built in; packages add others."""
