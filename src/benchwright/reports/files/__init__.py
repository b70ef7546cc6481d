"""Views as files, each written whole or not at all."""
