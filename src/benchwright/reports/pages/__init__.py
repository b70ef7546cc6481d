"""Pages for browsers: one application in `app`, which a server serves and which every report has inside."""
