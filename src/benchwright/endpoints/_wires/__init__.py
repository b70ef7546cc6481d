"""The wire formats: the URLs of requests, how they are written, and how replies are read. No I/O, no retries."""
