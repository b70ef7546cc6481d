"""A load test leaves pandas alone where it is installed: loading it takes seconds, and pyarrow asks for it at every turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_no_figure_no_page_and_no_comparison_of_load_tests_loads_pandas(tmp_path: Path) -> None:
    """A package of that name which tells who loads it; pyarrow looks for it as for the real one."""
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas/__init__.py").write_text(
        "import traceback\ntraceback.print_stack()\n", encoding="utf-8"
    )
    rows = "".join(f"{n}+1=,{n + 1}\n" for n in range(30))
    (tmp_path / "qa.csv").write_text("question,answer\n" + rows, encoding="utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from benchwright import compare, perf\n"
        "found = perf('qa.csv', concurrency=[1, 2], requests=30, slo='e2e=1s', score=True, format='aisbench')\n"
        "found.to_json()\n"
        "again = perf('qa.csv', concurrency=[1, 2], requests=30, slo='e2e=1s', score=True)\n"
        "compare(found, again).to_json()\n"
        "assert 'pyarrow.parquet' in sys.modules\n"
        "assert 'pandas' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
