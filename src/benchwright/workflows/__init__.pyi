from benchwright.workflows._canonical import stable_stringify as stable_stringify
from benchwright.workflows._child import ProgramProgress as ProgramProgress
from benchwright.workflows._claiming import (
    claimed_workflow as claimed_workflow,
    created_workflow as created_workflow,
)
from benchwright.workflows._environment import child_environment as child_environment
from benchwright.workflows._programs import (
    ProgramPlan as ProgramPlan,
    ProgramResult as ProgramResult,
    find_script as find_script,
    plan_program as plan_program,
    program_executable as program_executable,
    refuse_settings as refuse_settings,
    run_script as run_script,
)
from benchwright.workflows._run_program import (
    ProgramServer as ProgramServer,
    Serve as Serve,
    resume_program as resume_program,
    run_program as run_program,
)
