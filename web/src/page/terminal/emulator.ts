// Creates the page's xterm.js terminal with its options and add-ons.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import type { Disposable } from "../../base/disposables";
import { limitFrames } from "../../terminal/frame-limit";
import { correctXterm } from "../../terminal/xterm-fixes";
import type { Settings, ThemeName } from "../settings/settings";
import { appearance } from "../settings/themes";
import { hasGpu, loadGpuRenderer } from "./gpu-renderer";
import { openLink } from "./local-links";
import { useWidths } from "./widths";

/** Number of scrollback lines; same as on the server, so that a snapshot restores all of them. */
const SCROLLBACK = 5_000;
/**
 * Maximum time to wait for the font, in milliseconds. Cells are measured only once, so the font should already be
 * loaded by then.
 */
const FONT_TIMEOUT = 1_500;

/**
 * Maximum time to wait for the renderer, in milliseconds. If it's loaded later than that, it isn't used, because its
 * cells have a different size.
 */
const RENDERER_TIMEOUT = 3_000;

export interface OpenEmulator extends Disposable {
  terminal: Terminal;
  fit: FitAddon;
}

/** `activate` is called when the user has clicked a link printed by a program (OSC 8). */
export async function openEmulator(
  host: HTMLElement,
  settings: Settings,
  theme: ThemeName,
  activate: (uri: string) => void = openLink,
): Promise<OpenEmulator> {
  const renderer = hasGpu() ? loadGpuRenderer() : undefined;
  // If the font can't be loaded, the terminal uses a fallback font.
  await within(FONT_TIMEOUT, document.fonts.load('14px "JetBrains Mono"')).catch(() => {});
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const terminal = new Terminal({
    allowProposedApi: true,
    cursorBlink: !still,
    cursorInactiveStyle: "outline",
    drawBoldTextInBrightColors: false,
    fontSize: settings.fontSize,
    fontWeightBold: "700",
    // The DOM renderer draws lines and boxes with the font, whose characters are exactly as high as a line if the line
    // height is 1.
    lineHeight: renderer ? 1.2 : 1,
    linkHandler: { activate: (_event, uri) => activate(uri) },
    macOptionIsMeta: true,
    rescaleOverlappingGlyphs: true,
    screenReaderMode: settings.screenReader,
    scrollback: SCROLLBACK,
    ...appearance(settings, theme),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  useWidths(terminal);
  correctXterm(terminal);
  terminal.open(host);
  limitFrames(terminal);
  if (renderer && (await devicePixelsMatch(host)))
    drawWithGpu(terminal, await within(RENDERER_TIMEOUT, renderer));
  // The browser may load a font subset only when its first character is drawn. By then, the renderer has cached glyphs
  // from the fallback font, so the cache is cleared once the subset has been loaded.
  const redraw = () => terminal.clearTextureAtlas();
  document.fonts.addEventListener("loadingdone", redraw);
  return {
    terminal,
    fit,
    dispose: () => {
      document.fonts.removeEventListener("loadingdone", redraw);
      terminal.dispose();
    },
  };
}

/** Uses WebGL. If WebGL isn't available or its context is lost, xterm.js uses its DOM renderer. */
function drawWithGpu(terminal: Terminal, renderer: typeof import("@xterm/addon-webgl") | undefined): void {
  if (!renderer) return;
  try {
    const webgl = new renderer.WebglAddon();
    webgl.onContextLoss(() => webgl.dispose());
    terminal.loadAddon(webgl);
  } catch {
    // WebGL isn't available: the DOM renderer stays active.
  }
}

/**
 * Whether the browser's device pixel size is consistent with its pixel ratio. The WebGL renderer derives its canvas
 * size from the device pixel size; if the two are inconsistent (emulated phones, some remote desktops), it would draw
 * text at the wrong size.
 */
function devicePixelsMatch(host: HTMLElement): Promise<boolean> {
  return new Promise(resolve => {
    const observer = new ResizeObserver(([entry]) => {
      observer.disconnect();
      const reported = entry?.devicePixelContentBoxSize?.[0]?.inlineSize;
      const computed = (entry?.contentRect.width ?? 0) * devicePixelRatio;
      resolve(reported === undefined || Math.abs(reported - computed) <= 2);
    });
    observer.observe(host);
  });
}

/** Returns the result of `work`; undefined if it takes longer than `milliseconds`. */
function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), milliseconds));
  return Promise.race([work, late]);
}
