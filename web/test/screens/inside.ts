// What xterm.js keeps inside and does not show: the parts that are needed to tell whether two terminals are the same.
// The names are those of xterm.js 6; both its builds (for Node, and for the browser) keep them.

import type { Terminal } from "@xterm/headless";

export interface Cell {
  fg: number;
  bg: number;
  getChars(): string;
  getWidth(): number;
  extended: { underlineStyle: number; underlineColor: number; urlId: number };
}

export interface Line {
  length: number;
  isWrapped: boolean;
  loadCell(x: number, cell: Cell): Cell;
}

export interface Buffer {
  lines: { length: number; get(y: number): Line | undefined };
  x: number;
  y: number;
  ybase: number;
  scrollTop: number;
  scrollBottom: number;
  savedX: number;
  savedY: number;
  savedCurAttrData: Cell;
  savedCharset: object | undefined;
  tabs: Record<number, boolean>;
  getNullCell(): Cell;
}

export interface Core {
  buffers: { normal: Buffer; alt: Buffer; active: Buffer };
  coreService: {
    isCursorHidden: boolean;
    modes: Record<string, unknown>;
    decPrivateModes: Record<string, unknown>;
  };
  coreMouseService: { activeProtocol: string; activeEncoding: string };
  options: { convertEol: boolean; cursorStyle: string; cursorBlink: boolean };
  _charsetService: { glevel: number; charset: object | undefined; _charsets: (object | undefined)[] };
  _oscLinkService: { getLinkData(id: number): { uri: string } | undefined };
  _inputHandler: {
    _curAttrData: Cell;
    _parser: { currentState: number };
    onColor(listener: (requests: { type: number; index?: number; color?: number[] }[]) => void): unknown;
  };
}

export function inside(terminal: Terminal): Core {
  return (terminal as unknown as { _core: Core })._core;
}

/** What is told by events and then forgotten. */
export interface Heard {
  title: string;
  cwd: string;
  colours: Record<string, string>;
}

export function listen(terminal: Terminal): Heard {
  const heard: Heard = { title: "", cwd: "", colours: {} };
  terminal.onTitleChange(title => {
    heard.title = title;
  });
  terminal.parser.registerOscHandler(7, cwd => {
    heard.cwd = cwd;
    return true;
  });
  inside(terminal)._inputHandler.onColor(requests => {
    for (const { type, index, color } of requests) {
      // 1 sets a colour, 2 gives back its default; 0 only asks.
      if (type === 1) heard.colours[String(index)] = String(color);
      if (type === 2) {
        if (index === undefined) heard.colours = {};
        else delete heard.colours[String(index)];
      }
    }
  });
  return heard;
}
