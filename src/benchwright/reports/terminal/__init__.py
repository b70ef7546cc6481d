"""Views on the terminal, as rich renderables that suit the width they are given."""
