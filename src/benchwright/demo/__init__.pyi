from benchwright.demo._server import (
    DemoServer as DemoServer,
    demo_server as demo_server,
    serve_demo as serve_demo,
)
from benchwright.demo._settings import DemoSettings as DemoSettings, fault_mix as fault_mix
