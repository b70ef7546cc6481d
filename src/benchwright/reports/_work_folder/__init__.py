"""The folder of an evaluation of several models and datasets: predictions, results, logs, one summary."""
