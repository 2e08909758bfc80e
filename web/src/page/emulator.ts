// xterm.js, set up as this page wants it.

import { FitAddon } from "@xterm/addon-fit";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Disposable } from "../base/disposables";
import { correctXterm } from "../terminal/xterm-fixes";
import type { Settings } from "./settings";
import { CONTRAST, THEMES } from "./themes";
import { TouchScroll } from "./touch";
import { useWidths } from "./widths";

export const FONT_FAMILY =
  '"JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
/** Lines: as many as the server's own screen keeps, so that a snapshot brings all of them back. */
const SCROLLBACK = 5_000;
/** Milliseconds that the font may take: cells are measured once, so it should be there, but not at any price. */
const FONT_PATIENCE = 1_500;

export interface OpenEmulator extends Disposable {
  terminal: Terminal;
  fit: FitAddon;
}

export async function openEmulator(host: HTMLElement, settings: Settings): Promise<OpenEmulator> {
  await fontsReady();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const terminal = new Terminal({
    allowProposedApi: true,
    cursorBlink: !still,
    cursorInactiveStyle: "outline",
    drawBoldTextInBrightColors: false,
    fontFamily: FONT_FAMILY,
    fontSize: settings.fontSize,
    fontWeightBold: "700",
    lineHeight: 1.2,
    linkHandler: { activate: (_event, uri) => openLink(uri) },
    macOptionIsMeta: true,
    minimumContrastRatio: CONTRAST[settings.theme],
    rescaleOverlappingGlyphs: true,
    screenReaderMode: settings.screenReader,
    scrollback: SCROLLBACK,
    theme: THEMES[settings.theme],
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
  useWidths(terminal);
  correctXterm(terminal);
  terminal.open(host);
  const touch = new TouchScroll(host, terminal);
  if (await pixelsAreTrue(host)) drawWithGpu(terminal);
  // A subset of the font may come only when its first character is drawn; its glyphs were cached from another font.
  const redraw = () => terminal.clearTextureAtlas();
  document.fonts.addEventListener("loadingdone", redraw);
  return {
    terminal,
    fit,
    dispose: () => {
      document.fonts.removeEventListener("loadingdone", redraw);
      touch.dispose();
      terminal.dispose();
    },
  };
}

/** Where there is no WebGL, or its context is lost, xterm goes on with its DOM renderer. */
function drawWithGpu(terminal: Terminal): void {
  try {
    const webgl = new WebglAddon();
    webgl.onContextLoss(() => webgl.dispose());
    terminal.loadAddon(webgl);
  } catch {
    // The DOM renderer is there already.
  }
}

/**
 * The WebGL renderer makes its canvas as large as the browser says in device pixels. Where that contradicts the pixel
 * ratio (emulated phones, some remote desktops) text would come out at the wrong size; the DOM renderer does not mind.
 */
function pixelsAreTrue(host: HTMLElement): Promise<boolean> {
  return new Promise(resolve => {
    const observer = new ResizeObserver(([entry]) => {
      observer.disconnect();
      const said = entry?.devicePixelContentBoxSize?.[0]?.inlineSize;
      const computed = (entry?.contentRect.width ?? 0) * devicePixelRatio;
      resolve(said === undefined || Math.abs(said - computed) <= 2);
    });
    observer.observe(host);
  });
}

function openLink(uri: string): void {
  if (/^(https?|mailto):/i.test(uri)) window.open(uri, "_blank", "noopener,noreferrer");
}

async function fontsReady(): Promise<void> {
  const faces = ["400", "700", "italic 400"].map(style =>
    document.fonts.load(`${style} 14px "JetBrains Mono"`),
  );
  const patience = new Promise(resolve => setTimeout(resolve, FONT_PATIENCE));
  await Promise.race([Promise.allSettled(faces), patience]);
}
