"""The embedded demo model: a deterministic stand-in, in process and over HTTP. Never a real model."""
