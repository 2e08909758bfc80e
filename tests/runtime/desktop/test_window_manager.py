"""The configuration of openbox is XML, and openbox accepts it."""

from xml.etree import ElementTree

from hawse_runtime.desktop.window_manager import CONFIGURATION
from tests.support.runtime import Client

NAMES = "{http://openbox.org/3.4/rc}"


def test_there_is_one_workspace_and_no_mouse_button_of_the_background() -> None:
    root = ElementTree.fromstring(CONFIGURATION)
    assert root.findtext(f"{NAMES}desktops/{NAMES}number") == "1"
    contexts = {context.get("name") for context in root.iter(f"{NAMES}context")}
    assert {"Titlebar", "Client", "Close"} <= contexts
    assert not contexts & {"Root", "Desktop"}


async def test_openbox_runs_with_it(desktop: Client) -> None:
    call = desktop.execute("cat /proc/*/comm | grep -x openbox")
    assert (await call.result())["code"] == 0
