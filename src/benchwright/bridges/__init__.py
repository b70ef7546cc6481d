"""Foreign formats, read and written. No room imports this one: `benchwright.core.bridge` finds its modules by their rows."""

__all__: list[str] = []
