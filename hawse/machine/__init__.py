"""Registers this machine with a gateway as a sandbox. The machine connects to the gateway, so the machine itself
doesn't have to be reachable.

machine = Machine("wss://gateway.example", token="hwt_…", directory=Path("."))
await machine.run()  # until it is cancelled or the gateway ends the sandbox
"""

from hawse.machine.machine import Machine, MachineState

__all__ = ["Machine", "MachineState"]
