"""The findings of `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.core import Information

if TYPE_CHECKING:
    from benchwright.benchmarks import CheckReport


class CheckReports(list["CheckReport"]):
    """The findings of `check`, one report per benchmark. A notebook shows them as a table."""

    def _repr_html_(self) -> str:
        from html import escape

        lines = []
        for report in self:
            findings = [
                *((f"error: {text}") for text in report.errors),
                *(f"bad row: {text}" for text in report.bad_rows),
                *(
                    f"{'note' if isinstance(text, Information) else 'warning'}: {text}"
                    for text in report.warnings
                ),
            ]
            cells = (
                report.name,
                "ok" if report.ok else "not ready",
                f"{report.rows:,}",
                f"{report.requests:,}",
                "\n".join(findings) or "none",
            )
            lines.append(
                "".join(
                    f'<td style="white-space:pre-wrap;text-align:left">{escape(str(cell))}</td>'
                    for cell in cells
                )
            )
        heads = "".join(f"<th>{name}</th>" for name in ("benchmark", "check", "rows", "requests", "findings"))
        return f"<table><tr>{heads}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
