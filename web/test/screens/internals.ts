// The internal state of xterm.js that is needed to decide whether two terminals are equal. The names are those of
// xterm.js 6, in its builds for Node and for the browser.

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

export function internalsOf(terminal: Terminal): Core {
  return (terminal as unknown as { _core: Core })._core;
}

/** State that xterm.js reports only in events. */
export interface EventState {
  title: string;
  cwd: string;
  colours: Record<string, string>;
}

export function listen(terminal: Terminal): EventState {
  const eventState: EventState = { title: "", cwd: "", colours: {} };
  terminal.onTitleChange(title => {
    eventState.title = title;
  });
  terminal.parser.registerOscHandler(7, cwd => {
    eventState.cwd = cwd;
    return true;
  });
  internalsOf(terminal)._inputHandler.onColor(requests => {
    for (const { type, index, color } of requests) {
      // 1 sets a colour, 2 restores its default, 0 queries it.
      if (type === 1) eventState.colours[String(index)] = String(color);
      if (type === 2) {
        if (index === undefined) eventState.colours = {};
        else delete eventState.colours[String(index)];
      }
    }
  });
  return eventState;
}
