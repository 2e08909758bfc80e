"""One side of a connection, without I/O: `receive_text`/`receive_data`, then `events()`, then `data_to_send()`.

It enforces docs/wire.md in both directions. A violation by the peer raises `RemoteProtocolError`; misuse by this side
raises `LocalProtocolError`. It must not know about carriers, clocks or methods.
"""

from hawse.wire.protocol_state import Role
from hawse.wire.receiver import Receiver

__all__ = ["Connection", "Role"]


class Connection(Receiver):
    """One side of a connection, in either role.

    - `ProtocolState`: roles, the handshake, channels, `data_to_send`, `pending`, `send_connection_error`
    - `Receiver`: `receive_text`, `receive_data`, `events`
    - `DataSender`: `send_data`, `send_shared`, `grant`, `window`, `flow`, `ping`
    - `ClientSender`: `send_hello`, `call`, `cancel`, `end`
    - `ServerSender`: `send_welcome`, `send_event`, `send_result`, `send_error`, `goaway`
    """
