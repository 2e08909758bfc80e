"""This machine as a sandbox of a gateway: it connects to the gateway, which therefore needs no way to reach it.

machine = Machine("wss://gateway.example", token="hwt_…", directory=Path("."))
await machine.run()  # until it is cancelled, or the gateway ends it
"""

from hawse.machine.machine import Machine, MachineState

__all__ = ["Machine", "MachineState"]
