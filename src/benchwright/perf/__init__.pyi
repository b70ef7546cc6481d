from benchwright.perf._values import (
    OPEN_PROFILES as OPEN_PROFILES,
)
from benchwright.perf._values import (
    Health as Health,
)
from benchwright.perf._values import (
    LoadSettings as LoadSettings,
)
from benchwright.perf._values import (
    PhaseName as PhaseName,
)
from benchwright.perf._values import (
    Profile as Profile,
)
from benchwright.perf._values import (
    RequestOutcome as RequestOutcome,
)
from benchwright.perf._values import (
    RequestRecord as RequestRecord,
)
from benchwright.perf._values import (
    Spread as Spread,
)
from benchwright.perf._values import (
    StageRecord as StageRecord,
)
from benchwright.perf._values import (
    TokenSource as TokenSource,
)
from benchwright.perf._values import (
    decode_record as decode_record,
)
from benchwright.perf._values import (
    decode_stage as decode_stage,
)
from benchwright.perf._values import (
    encode_record as encode_record,
)
from benchwright.perf._values import (
    encode_stage as encode_stage,
)
