"""The wire formats: where requests go, how they are written, how replies are read. No I/O, no retries."""
