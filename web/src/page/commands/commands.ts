// A terminal's commands as objects, derived from the shell's marks (OSC 133, and OSC 633;E for the command line). Each
// command has a bar in the gutter and its own actions.

import type { IDecoration, IMarker, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { visible } from "../../base/visible";

/** Maximum number of commands to keep; the scrollback rarely contains more. */
const MAX_COMMANDS = 500;
/** Maximum length of a command line in characters; the shell integration truncates longer lines. */
const MAX_LINE = 4_096;

export interface Command {
  /** The line with the prompt. */
  readonly prompt: IMarker;
  /** The first line of output. */
  readonly output: IMarker;
  /** The command line; empty if the shell hasn't reported it. */
  readonly line: string;
  /** The line after the output; undefined while the command is running. */
  end?: IMarker | undefined;
  /** The exit code; undefined while the command is running, or if the shell hasn't reported one. */
  code?: number | undefined;
}

export type CommandState = "running" | "done" | "failed";

export class Commands implements Disposable {
  readonly #terminal: Terminal;
  readonly #press: (command: Command, bar: HTMLElement) => void;
  readonly #disposables = new DisposableList();
  readonly #decorations = new Map<Command, IDecoration>();
  #list: Command[] = [];
  #prompt: IMarker | undefined;
  #line = "";
  #running: Command | undefined;
  #atPrompt = false;

  /** `press` is called when the user has clicked a command's bar. */
  constructor(terminal: Terminal, press: (command: Command, bar: HTMLElement) => void) {
    this.#terminal = terminal;
    this.#press = press;
    this.#disposables.add(
      terminal.parser.registerOscHandler(133, data => this.#mark(data)),
      terminal.parser.registerOscHandler(633, data => {
        if (data.startsWith("E;")) this.#line = unescapeLine(data.slice(2).split(";")[0] ?? "");
        return false;
      }),
    );
  }

  /** The commands whose prompts are in the buffer, oldest first. */
  get list(): readonly Command[] {
    this.#list = this.#list.filter(({ prompt }) => !prompt.isDisposed);
    return this.#list;
  }

  get last(): Command | undefined {
    return this.list.at(-1);
  }

  /** The running command, even if its line is no longer in the buffer. */
  get running(): Command | undefined {
    return this.#running;
  }

  /** Whether the shell is waiting for a command. False if the shell doesn't report its prompts. */
  get atPrompt(): boolean {
    return this.#atPrompt;
  }

  outputOf({ output, end }: Command): string {
    const { active } = this.#terminal.buffer;
    const to = end && !end.isDisposed ? end.line : active.baseY + active.cursorY;
    return textOf(active, output.isDisposed ? 0 : output.line, to);
  }

  /** Whether the buffer shows the command line between the prompt and the output. */
  shows({ prompt, output, line }: Command): boolean {
    if (prompt.isDisposed || output.isDisposed) return false;
    const packed = (text: string) => text.replace(/\s+/g, ""); // the shell wraps and indents lines in its own way
    const { normal } = this.#terminal.buffer;
    return packed(textOf(normal, prompt.line, Math.max(output.line, prompt.line + 1))).endsWith(packed(line));
  }

  /** Scrolls to the prompt before (-1) or after (1) the first visible line. */
  jump(by: 1 | -1): void {
    const lines = this.list.map(({ prompt }) => prompt.line);
    const here = this.#terminal.buffer.active.viewportY;
    const to = by < 0 ? lines.findLast(line => line < here) : lines.find(line => line > here);
    if (to !== undefined) this.#terminal.scrollToLine(to);
    else if (by > 0) this.#terminal.scrollToBottom();
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const decoration of this.#decorations.values()) decoration.dispose();
  }

  #mark(data: string): false {
    const [kind, code] = data.split(";");
    if (kind === "A" || kind === "C") this.#atPrompt = kind === "A";
    if (kind === "C") this.#start();
    else if (kind === "D") this.end(Number.parseInt(code ?? "", 10));
    else if (kind === "A") {
      // If a command is still marked as running at a new prompt, its shell ended without reporting the command's end.
      this.end();
      this.#prompt = this.#terminal.registerMarker(0);
    }
    return false; // other handlers may need the sequence as well
  }

  #start(): void {
    const output = this.#terminal.registerMarker(0);
    const prompt = this.#prompt && !this.#prompt.isDisposed ? this.#prompt : output;
    const command: Command = { prompt, output, line: this.#line };
    this.#prompt = undefined;
    this.#line = "";
    this.#list.push(command);
    this.#running = command;
    if (this.#list.length > MAX_COMMANDS) this.#undecorate(this.#list.shift());
    this.#decorate(command);
  }

  /** Marks the running command as ended. `code` is NaN if unknown. */
  end(code = Number.NaN): void {
    const command = this.#running;
    this.#running = undefined;
    if (!command) return;
    command.end = this.#terminal.registerMarker(0);
    command.code = Number.isNaN(code) ? undefined : code;
    const element = this.#decorations.get(command)?.element;
    if (element) paint(element, command);
  }

  #decorate(command: Command): void {
    const decoration = this.#terminal.registerDecoration({ marker: command.prompt, width: 1, layer: "top" });
    if (!decoration) return; // the alternate screen has no markers
    this.#decorations.set(command, decoration);
    decoration.onRender(element => {
      paint(element, command);
      element.onclick = event => {
        event.stopPropagation(); // otherwise, the click would focus the terminal, like a click next to the bar
        this.#press(command, element);
      };
    });
    decoration.onDispose(() => this.#decorations.delete(command));
  }

  #undecorate(command: Command | undefined): void {
    if (command) this.#decorations.get(command)?.dispose();
  }
}

export function stateOf({ end, code }: Command): CommandState {
  if (!end) return "running";
  return code ? "failed" : "done";
}

function paint(element: HTMLElement, command: Command): void {
  const state = stateOf(command);
  element.classList.add("command-bar");
  element.dataset.state = state;
  const what = state === "running" ? "runs" : command.code ? `failed with code ${command.code}` : "succeeded";
  element.title = `${visible(command.line) || "This command"} ${what}`;
}

/** Decodes the escapes in OSC 633;E: `\\` is a backslash, and `\xHH` a character. */
export function unescapeLine(text: string): string {
  return text
    .slice(0, MAX_LINE)
    .replace(/\\(\\|x([0-9a-fA-F]{2}))/g, (_, all: string, hex: string | undefined) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : all,
    );
}

/** Returns the text of the lines from `from` up to, but not including, `to`. Wrapped lines are joined. */
export function textOf(
  buffer: Pick<Terminal["buffer"]["active"], "getLine">,
  from: number,
  to: number,
): string {
  const lines: string[] = [];
  for (let y = from; y < to; y++) {
    const line = buffer.getLine(y);
    if (!line) break;
    const wraps = buffer.getLine(y + 1)?.isWrapped ?? false;
    const text = line.translateToString(!wraps);
    if (line.isWrapped && lines.length) lines.push((lines.pop() ?? "") + text);
    else lines.push(text);
  }
  return lines.join("\n");
}
