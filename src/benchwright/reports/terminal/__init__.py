"""Shows views on the terminal, as rich renderables that adapt to the width."""
