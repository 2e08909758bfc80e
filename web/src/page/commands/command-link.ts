// Links to a command in a terminal: `/?sandbox=local&terminal=main#command=1234&instance=…`. A link identifies the
// command by the byte offset where its output starts. A screen from the server doesn't include the offsets of its rows,
// so the page compares the rows with the command lines kept by the server.

import type { IDecoration, Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import type { GatewayClient } from "../../client/client";
import { errorText } from "../../client/error-text";
import type { TerminalChannel } from "../../terminal/terminal-channel";
import { HawseError } from "../../wire/errors";
import type { CommandInfo } from "../../wire/methods";
import { readAddress, terminalLink } from "../address";
import type { Command, Commands } from "./commands";

/** Maximum number of commands that the server returns; it doesn't keep any more than that. */
const KEPT = 1_000;
/** How long to wait for the command's row to appear in the emulator, in milliseconds. */
const PARSING = 5_000;
const GONE = "The server no longer has this command.";

/** The command that a link refers to. */
export interface LinkedTo {
  /** Byte offset where the output starts. */
  readonly start: number;
  /** The instance of the terminal where the command ran. */
  readonly instance: string;
}

export interface CommandSource {
  readonly client: Pick<GatewayClient, "call">;
  readonly channel: Pick<TerminalChannel, "address" | "info">;
  readonly commands: Pick<Commands, "list">;
}

/** Returns a link to a command. It includes any guest's `token`, so that guests can pass the link on. */
export function commandLink(
  href: string,
  terminal: string,
  { start, instance }: LinkedTo,
  token = "",
): string {
  const fragment = new URLSearchParams({ command: String(start), instance });
  if (token) fragment.set("token", token);
  return `${terminalLink(href, terminal)}#${fragment}`;
}

/** Parses a link; returns undefined if `href` isn't a link to a command in this terminal. */
export function readCommandLink(href: string, terminal: string): LinkedTo | undefined {
  const fragment = new URLSearchParams(new URL(href).hash.slice(1));
  const [command = "", instance] = [fragment.get("command") ?? "", fragment.get("instance")];
  if (!/^\d{1,15}$/.test(command) || !instance || readAddress(href).terminal !== terminal) return undefined;
  return { start: Number(command), instance };
}

/** Asks the server where a command's output starts; returns undefined if the server no longer has the command. */
export async function findStart(source: CommandSource, command: Command): Promise<LinkedTo | undefined> {
  const instance = source.channel.info?.instance;
  if (instance === undefined) return undefined;
  // The page and the server may have different numbers of commands, so a command is matched by its distance from the
  // latest one. The distance must be read before the call, because a new command changes it.
  const fromEnd = source.commands.list.length - source.commands.list.indexOf(command);
  const kept = await history(source, instance);
  const ranked = kept[kept.length - fromEnd];
  const found = isLine(ranked, command.line) ? ranked : kept.findLast(each => isLine(each, command.line));
  return found && { start: found.start, instance };
}

/**
 * Returns the first row of the command `lines[0]`. `lines` contains the lines of this command and of all later ones;
 * unknown lines are null. Returns undefined if no row ends with the command line.
 */
export function findRow(
  buffer: Pick<Terminal["buffer"]["normal"], "getLine" | "length">,
  lines: readonly (string | null | undefined)[],
): number | undefined {
  let below = buffer.length;
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = firstLine(lines[i]);
    const row = line ? rowAbove(buffer, below, line) : undefined;
    if (i === 0) return row;
    below = row ?? below; // a command without a row may have been erased from the screen
  }
  return undefined;
}

/** Scrolls to the command in the page address, and does so again when the address changes. */
export class LinkedCommand implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #terminal: Terminal;
  readonly #source: CommandSource;
  readonly #toast: (text: string) => void;
  #marked: IDecoration | undefined;

  constructor(terminal: Terminal, source: CommandSource, toast: (text: string) => void) {
    this.#terminal = terminal;
    this.#source = source;
    this.#toast = toast;
    this.#disposables.listen(window, "hashchange", () => void this.#show());
    this.#disposables.add(terminal.onData(() => this.#unmark()));
    void this.#show();
  }

  dispose(): void {
    this.#disposables.dispose();
    this.#unmark();
  }

  async #show(): Promise<void> {
    const linked = readCommandLink(location.href, this.#source.channel.address.id);
    if (!linked) return;
    try {
      const kept = await history(this.#source, linked.instance);
      const at = kept.findIndex(({ start }) => start === linked.start);
      if (at < 0) this.#toast(GONE);
      else this.#whenParsed(() => this.#goTo(kept, at));
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#toast(problem.code === "stale_handle" ? GONE : errorText(problem));
    }
  }

  /** Returns false if the row doesn't exist or hasn't been drawn yet. */
  #goTo(kept: readonly CommandInfo[], at: number): boolean {
    const { buffer } = this.#terminal;
    const { list } = this.#source.commands;
    const own = list[list.length - (kept.length - at)];
    const known = own && isLine(kept[at], own.line) ? own.prompt.line : undefined;
    const row =
      known ??
      findRow(
        buffer.normal,
        kept.slice(at).map(({ line }) => line),
      );
    if (row === undefined) return false;
    if (buffer.active.type === "alternate")
      this.#toast("The command is hidden behind a full-screen program.");
    else this.#mark(row);
    return true;
  }

  #mark(row: number): void {
    const { active } = this.#terminal.buffer;
    this.#terminal.scrollToLine(row);
    this.#unmark();
    const marker = this.#terminal.registerMarker(row - active.baseY - active.cursorY);
    const width = this.#terminal.cols;
    this.#marked = this.#terminal.registerDecoration({ marker, width, layer: "top" });
    this.#marked?.onRender(element => element.classList.add("linked-command"));
  }

  #unmark(): void {
    this.#marked?.dispose();
    this.#marked = undefined;
  }

  /** Calls `action` immediately, and then each time the emulator has parsed a write, until `action` returns true. */
  #whenParsed(action: () => boolean): void {
    if (action()) return;
    const waiting = new DisposableList();
    this.#disposables.add(waiting);
    const timer = setTimeout(() => {
      waiting.dispose();
      this.#toast(GONE);
    }, PARSING);
    waiting.defer(() => clearTimeout(timer));
    waiting.add(this.#terminal.onWriteParsed(() => action() && waiting.dispose()));
  }
}

async function history({ client, channel }: CommandSource, instance: string): Promise<CommandInfo[]> {
  const { id, sandbox } = channel.address;
  const { commands } = await client.call("terminal.history", { id, instance, limit: KEPT }, { sandbox });
  return commands;
}

function isLine(command: CommandInfo | undefined, line: string): command is CommandInfo {
  return command !== undefined && (command.line ?? "") === line;
}

function firstLine(line: string | null | undefined): string {
  return (line ?? "").split("\n")[0]?.trimEnd() ?? "";
}

/** Searches above row `below` for text that ends with `line` as a separate word. Returns the first row of the text. */
function rowAbove(
  buffer: Pick<Terminal["buffer"]["normal"], "getLine">,
  below: number,
  line: string,
): number | undefined {
  let text = "";
  for (let y = below - 1; y >= 0; y--) {
    const row = buffer.getLine(y);
    if (!row) continue;
    text = row.translateToString(text === "") + text;
    if (row.isWrapped) continue;
    const shown = text.trimEnd();
    if (shown.endsWith(line) && !/\w$/.test(shown.slice(0, -line.length))) return y;
    text = "";
  }
  return undefined;
}
