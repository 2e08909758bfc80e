"""Openbox configuration for desktops: one workspace, the usual mouse actions, and a few keys.

The default configuration has four workspaces, and turning the wheel over the background switches between them. A
program that controls the desktop would then lose sight of its windows.
"""

from typing import Final

OPENBOX: Final = "openbox"

_FRAME: Final = """
    <context name="Frame">
      <mousebind button="A-Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="A-Right" action="Drag"><action name="Resize"/></mousebind>
    </context>"""
_TITLE: Final = """
    <context name="Titlebar">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>"""
_CLIENT: Final = """
    <context name="Client">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Middle" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
      <mousebind button="Right" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>"""
_EDGES: Final = "".join(
    f"""
    <context name="{names}">
      <mousebind button="Left" action="Drag"><action name="Resize"><edge>{edge}</edge></action></mousebind>
    </context>"""
    for names, edge in (
        *(("Top", "top"), ("Bottom", "bottom"), ("Left", "left"), ("Right", "right")),
        *(("TLCorner", "topleft"), ("TRCorner", "topright"), ("BLCorner", "bottomleft"), ("BRCorner", "bottomright")),
    )
)
_BUTTONS: Final = "".join(
    f"""
    <context name="{name}">
      <mousebind button="Left" action="Click"><action name="{action}"/></mousebind>
    </context>"""
    for name, action in (("Close", "Close"), ("Maximize", "ToggleMaximize"), ("Iconify", "Iconify"))
)

CONFIGURATION: Final = f"""<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme><name>Clearlooks</name><titleLayout>LIMC</titleLayout></theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"/></keybind>
  </keyboard>
  <mouse>
    <dragThreshold>3</dragThreshold>
    <doubleClickTime>400</doubleClickTime>{_FRAME}{_TITLE}{_CLIENT}{_EDGES}{_BUTTONS}
  </mouse>
  <applications/>
</openbox_config>
"""
