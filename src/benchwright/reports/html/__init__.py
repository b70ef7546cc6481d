"""Renders views as pages for a browser or a notebook, with Jinja2 templates that escape every value."""
