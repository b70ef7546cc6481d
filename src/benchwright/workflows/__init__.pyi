from benchwright.workflows._canonical import stable_stringify as stable_stringify
from benchwright.workflows._claiming import (
    claimed_workflow as claimed_workflow,
    created_workflow as created_workflow,
)
from benchwright.workflows._environment import child_environment as child_environment
from benchwright.workflows._execution import run_script as run_script
