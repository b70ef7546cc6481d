from benchwright.demo._endpoint import DemoEndpoint as DemoEndpoint
from benchwright.demo._model import DemoModel as DemoModel
from benchwright.demo._server import (
    DemoServer as DemoServer,
)
from benchwright.demo._server import (
    demo_server as demo_server,
)
from benchwright.demo._server import (
    serve_demo as serve_demo,
)
from benchwright.demo._server import (
    start_demo as start_demo,
)
from benchwright.demo._settings import DemoSettings as DemoSettings
from benchwright.demo._settings import FaultMix as FaultMix
