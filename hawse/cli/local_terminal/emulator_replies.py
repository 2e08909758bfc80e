"""Recognizes an emulator's replies to programs' queries among typed keys.

The program must not receive replies while old output is replayed, or while another viewer of the terminal answers its
queries.
"""

import re
from typing import Final

# The replies among xterm's control sequences (ctlseqs). Keys are not included.
REPLIES: Final = re.compile(
    rb"\x1b\[[?>=][\d;:]*c"  # DA1, DA2, DA3
    rb"|\x1b\[\??\d+;\d+(?:;\d+)?R"  # CPR: the cursor position
    rb"|\x1b\[\??[03]n"  # DSR: the terminal's state
    rb"|\x1b\[\??\d+;\d\$y"  # DECRPM: the state of a mode
    rb"|\x1b\[\?\d+u"  # the flags of the kitty keyboard protocol
    rb"|\x1b\[(?:[468];\d+;\d+)t"  # XTWINOPS: sizes
    rb"|\x1b\[>\d+;\d+m"  # XTQMODKEYS
    rb"|\x1bP[^\x1b]*\x1b\\"  # DCS: XTVERSION, DECRQSS, XTGETTCAP
    rb"|\x1b\](?:4|5|1[0-9]|52);[^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: colours, clipboard
)
# CSI 1;N R with N from 2 to 16 is either a modified F3 or a cursor position in the first row. The key is more likely.
_F3: Final = re.compile(rb"\x1b\[1;(?:[2-9]|1[0-6])R")


def without_replies(data: bytes) -> bytes:
    """Return `data` without any complete emulator replies."""
    return REPLIES.sub(lambda match: match[0] if _F3.fullmatch(match[0]) else b"", data)
