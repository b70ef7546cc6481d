"""Views as pages for a browser or a notebook: Jinja2 templates that escape every value."""
