// An emulator for players. It only displays output, using the user's font and theme.

import { WebLinksAddon } from "@xterm/addon-web-links";
import { DisposableList } from "../../base/disposables";
import type { EmulatorScreen } from "../../frame/pane";
import type { Settings } from "../settings/settings";
import type { PageTheme } from "../settings/theme";
import { appearance } from "../settings/themes";
import { TouchScroll } from "../touch/touch";
import { openEmulator } from "./emulator";
import { Layout } from "./layout";
import { openLink } from "./local-links";

/** `stage` is the element that centres the terminal, and `host` is its child where the terminal is drawn. */
export async function openScreen(
  stage: HTMLElement,
  host: HTMLElement,
  settings: Settings,
  theme: PageTheme,
): Promise<EmulatorScreen> {
  const disposables = new DisposableList();
  const emulator = await openEmulator(host, settings, theme.current);
  const { terminal, fit } = emulator;
  terminal.options.disableStdin = true;
  terminal.options.cursorBlink = false;
  terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
  terminal.attachCustomKeyEventHandler(() => false);
  const layout = new Layout(stage, terminal, fit, settings.fontSize);
  const observer = new ResizeObserver(() => layout.adapt());
  observer.observe(stage);
  disposables.defer(() => observer.disconnect());
  const apply = () => {
    const options = appearance(settings, theme.current);
    Object.assign(terminal.options, options);
    stage.style.setProperty("--terminal", options.theme.background ?? "");
  };
  apply();
  disposables.add(new TouchScroll(host, terminal), emulator, theme.onChange(apply));
  return {
    terminal,
    resize: (cols, rows) => {
      terminal.resize(cols, rows);
      layout.adapt();
    },
    dispose: () => disposables.dispose(),
  };
}
