"""Trackers: programs that follow runs as they happen. Weights & Biases and MLflow are built in; packages add others."""
