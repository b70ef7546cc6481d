"""Has the older packages render the configurations of `rendering_cases`, and writes `golden_renderings.jsonl`.

Run it with a Python that has nemo-evaluator 0.2.8 and nemo-evaluator-launcher 0.2.6, and with PYTHONPATH at the unpacked wheel of
nvidia-bfcl 26.3: `PYTHONPATH=bfcl older/bin/python tests/config/record_renderings.py`. Nothing is sent, and no container starts.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import glob
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from rendering_cases import BENCH, DATA, FOLDER, TYPES, all_cases  # noqa: E402

GOLDEN = HERE / "golden_renderings.jsonl"
IGNORED = ("command", "framework_name", "pkg_name", "target.api_endpoint.adapter_config")
"""Their command and their names of things; steps are compared by what they do."""


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Values by their dotted keys, without nulls and empty tables."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{before}{name}"
        if key in IGNORED:
            continue
        if isinstance(value, dict):
            found |= flat(value, f"{key}.")
        elif value is not None:
            found[key] = value
    return found


class Older:
    """The older packages, in this process."""

    def __init__(self, folder: Path) -> None:
        from nemo_evaluator.core import entrypoint, input as configuration
        from nemo_evaluator_launcher.api import functional
        from nemo_evaluator_launcher.common import container_metadata, mapping
        from nemo_evaluator_launcher.common.container_metadata import intermediate_repr

        known = configuration._get_harness_packages
        configuration._get_harness_packages = lambda: [
            p for p in known() if p.name == "bfcl" or str(folder) in p.module_finder.path
        ]
        evaluations = configuration.get_available_evaluations()
        configuration.get_available_evaluations = lambda: copy.deepcopy(evaluations)
        held = functools.lru_cache(intermediate_repr.load_harnesses_and_tasks_from_tasks_file)
        for module in (intermediate_repr, container_metadata):
            module.load_harnesses_and_tasks_from_tasks_file = lambda *_: held()  # read once, for it is slow
        functional._validate_nemo_evaluator_config_params = lambda *_, **__: None  # only warns
        self._entry = entrypoint
        self._mapping = mapping.load_tasks_mapping()
        for framework, tasks in evaluations[0].items():
            for name, task in tasks.items() if framework.startswith("byob_") else ():
                kinds = task.config.supported_endpoint_types
                self._mapping[(framework, name.split(".")[-1])] = {
                    "task": name.split(".")[-1], "harness": framework, "endpoint_type": kinds[0], "container": "x", "is_unlisted": True,
                }  # fmt: skip

    def render(self, args: list[str]) -> list[dict[str, Any]]:
        """The flat configurations that the arguments give."""
        return [
            self._flat(each) for each in (self._launched(args) if args[0] == "run" else [self._typed(args)])
        ]

    def _flat(self, run_config: dict[str, Any]) -> dict[str, Any]:
        evaluation = self._entry.validate_configuration(copy.deepcopy(run_config))
        if "{{" not in str(run_config):
            evaluation.render_command()
        return flat(evaluation.model_dump())

    def _typed(self, args: list[str]) -> dict[str, Any]:
        entry = self._entry
        given = entry.get_parser().parse_args(args)
        config = entry.load_run_config(given.run_config) if given.run_config else {}
        return entry.deep_update(config, entry._parse_cli_args(given), skip_nones=True)

    def _launched(self, args: list[str]) -> list[dict[str, Any]]:
        from nemo_evaluator_launcher.api import functional
        from nemo_evaluator_launcher.api.types import RunConfig
        from nemo_evaluator_launcher.common import env_vars, helpers, mapping, override_sugar

        pairs = [value for flag, value in itertools.pairwise(args) if flag == "-o"]
        plain, named = override_sugar.partition_overrides(pairs)
        config = RunConfig.from_hydra(config=args[args.index("--config") + 1], hydra_overrides=plain)
        if named:
            config = override_sugar.apply_task_name_overrides(config, named)
        functional._validate_config_sections(config)
        functional._validate_no_missing_values(config)
        found = []
        for task in config.evaluation.tasks:
            definition = mapping.get_task_definition_for_job(
                task_query=task.name, base_mapping=self._mapping, container=None, endpoint_type=task.get("endpoint_type")
            )  # fmt: skip
            key_name = helpers.get_api_key_name(config)
            env_vars.generate_secrets_env({"t": env_vars.collect_eval_env_vars(config, task, key_name)})
            shown = helpers.get_eval_factory_command(config, task, definition).debug
            lines = shown.split("# Contents of config_ef.yaml\n")[1].split("\n# Contents of")[0].splitlines()
            found.append(yaml.safe_load("\n".join(line[2:] for line in lines)))
            found[-1].pop("metadata", None)
        return found


def record(older: Older, case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What the older packages make of a case, as differences from the defaults of its types; or that they refuse it."""
    for name, text in case.get("files", {}).items():
        Path(name).write_text(text, encoding="utf-8")
    os.environ.update(case.get("env", {}))
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            found = older.render(case["args"])
    except (Exception, SystemExit) as error:
        return {"name": case["name"], "refused": type(error).__name__}
    finally:
        for name in case.get("env", {}):
            del os.environ[name]
        for name in case.get("files", {}):
            Path(name).unlink()
    return {
        "name": case["name"],
        "older": json.loads(json.dumps(found, default=str).replace(str(folder), FOLDER)),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "bench.py").write_text(
            BENCH.replace("PACKAGE", "nemo_evaluator.contrib.byob"), encoding="utf-8"
        )
        for file, text in DATA.items():
            (folder / file).write_text(text, encoding="utf-8")
        compiler = [
            sys.executable,
            "-m",
            "nemo_evaluator.contrib.byob.cli",
            "bench.py",
            "--no-install",
            "--install-dir",
            "packages",
        ]
        subprocess.run(compiler, cwd=folder, check=True, capture_output=True)
        import nemo_evaluator

        nemo_evaluator.__path__ += glob.glob(str(folder / "packages/*/nemo_evaluator"))
        os.chdir(folder)
        older = Older(folder)
        records = [record(older, case, folder) for case in all_cases()]
        defaults = {each["name"][6:]: each["older"][0] for each in records if each["name"][6:] in TYPES}
        for each in records:
            each["older"] = [_shortened(found, defaults) for found in each.get("older", [])]
        lines = [{"defaults": defaults}, *({k: v for k, v in each.items() if v != []} for each in records)]
        GOLDEN.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
        )
        print(len(records), "configurations,", sum("refused" in each for each in records), "refused")


def _shortened(found: dict[str, Any], defaults: dict[str, dict[str, Any]]) -> dict[str, Any]:
    base = defaults.get(str(found.get("config.type")), {})
    lacking = {key: None for key in base if key not in found}
    return {
        **lacking,
        **{key: value for key, value in found.items() if base.get(key) != value or key == "config.type"},
    }


if __name__ == "__main__":
    main()
