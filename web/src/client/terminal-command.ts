// A command in a terminal that returns its questions: each step waits until the program asks a question or ends
// (`terminal.wait`), and collects the output printed in the meantime (`terminal.attach`).

import { randomId } from "../base/random-id";
import { HawseError } from "../wire/errors";
import { SCREEN } from "../wire/frames";
import type {
  Exit,
  TerminalAttach,
  TerminalCreate,
  TerminalCreateResult,
  TerminalSend,
  TerminalWaiting,
} from "../wire/methods";
import type { MethodParams, MethodResult } from "./calls";
import { joinBytes } from "./join-bytes";
import type { SandboxHandle } from "./sandbox";
import { type MethodStream, wasInterrupted } from "./streams";

export interface TerminalExecOptions extends Pick<TerminalCreate, "cwd" | "env" | "cols" | "rows"> {
  terminal: true;
  /**
   * Time limit in seconds. If the command neither ends nor waits for input within this time, the command is killed.
   * The limit no longer applies once `exec` has returned, nor if this client is closed.
   */
  timeout?: number;
  /** Maximum number of bytes to keep from the end of the output of each step; default: 8 MiB. */
  max_output?: number;
}

/** The methods that this module uses. */
export type TerminalCalls = Pick<SandboxHandle, "call" | "stream">;

type Answer = Pick<TerminalSend, "text" | "paste" | "keys">;

/** The output between two offsets, and the reason why the step ended there. */
interface Step {
  readonly output: Uint8Array;
  readonly missing: number;
  readonly offset: number;
  readonly needsInput: TerminalWaiting | undefined;
  readonly exit: Exit | undefined;
}

const OUTPUT_MAX = 8_388_608;
/** A step ends after this many seconds without output if the shell is idle or the program's state is unknown. */
const QUIET = 3;
/** Maximum number of seconds that a call can wait. */
const DAY = 86_400;
const COLS = 120;
const ROWS = 40;
/** The shells that can run command lines. The first one that exists is used, as in the runtime. */
const SHELLS = ["/bin/bash", "/bin/sh"] as const;
const NOISE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal output has control characters (ECMA-48)
  /\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|[\]PX^_][^\x07\x18\x1a\x1b]*(?:[\x07\x18\x1a]|\x1b\\)?|[\x20-\x2f]*[\x30-\x7e]?)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/**
 * A command in a terminal, as of the last step: it waits for input, has ended, or is still running. `send` and `read`
 * return a new object for the next step.
 */
export class TerminalCommand implements Step {
  /** The id of the command's terminal, which people can open as well. */
  readonly id: string;
  /** The question that the program asks; undefined if it has ended or is still running. */
  readonly needsInput: TerminalWaiting | undefined;
  /** How the program ended; undefined if it is still running. */
  readonly exit: Exit | undefined;
  /** The output of this step, including the echo of the answer and the prompt. */
  readonly output: Uint8Array;
  /** Number of bytes omitted at the start of `output`. */
  readonly missing: number;
  /** Position where `output` ends. */
  readonly offset: number;
  readonly #follower: Follower;

  constructor(follower: Follower, step: Step) {
    this.#follower = follower;
    this.id = follower.id;
    this.needsInput = step.needsInput;
    this.exit = step.exit;
    this.output = step.output;
    this.missing = step.missing;
    this.offset = step.offset;
  }

  /** The output as text, without escape sequences. Each CR LF is replaced by LF. */
  get text(): string {
    const text = new TextDecoder().decode(this.output).replace(NOISE, "");
    return text.replaceAll("\r\n", "\n").replace(/^\r+/gm, "");
  }

  /**
   * Types an answer, and waits until the program asks another question or ends. To submit a line, add
   * `keys: ["enter"]`. Throws HawseError with code `conflict` if the question has already been answered, or `exited` if
   * the program has ended.
   *
   * @param timeout - Maximum number of seconds to wait. If it is exceeded, the command keeps running, and the result
   * has neither `needsInput` nor `exit`.
   */
  async send(answer: Answer, timeout?: number): Promise<TerminalCommand> {
    checkTimeout(timeout); // throws before anything is typed
    const needed = this.needsInput;
    const question =
      needed && needed.kind !== "no" && needed.kind !== "unknown" ? (needed.since ?? null) : null;
    await this.#follower.call("terminal.send", { ...answer, question });
    return await this.read(timeout);
  }

  /** Waits until the program asks a question or ends, and returns the output since this step. Throws HawseError. */
  async read(timeout?: number): Promise<TerminalCommand> {
    return new TerminalCommand(this.#follower, await this.#follower.step(this.offset, timeout));
  }

  /**
   * Ends all of the command's processes with SIGHUP, then SIGKILL, and returns how the program ended. Throws HawseError.
   *
   * @param grace - Seconds between the two signals; default: 2.
   */
  async kill(grace?: number): Promise<Exit> {
    return (await this.#follower.call("terminal.kill", { grace: grace ?? null })).exit;
  }
}

/** Runs a command in a new terminal until it asks a question or ends. Throws HawseError. */
export async function execInTerminal(
  box: TerminalCalls,
  command: string | readonly string[],
  options: TerminalExecOptions,
): Promise<TerminalCommand> {
  const { timeout, max_output, terminal: _, ...given } = options;
  checkTimeout(timeout);
  const created = await start(box, command, { cols: COLS, rows: ROWS, ...given, integration: false });
  const follower = new Follower(box, created, max_output ?? OUTPUT_MAX);
  try {
    return new TerminalCommand(follower, await follower.step(0, timeout, true));
  } catch (error) {
    follower.call("terminal.kill", {}).catch(() => {});
    throw error;
  }
}

async function start(
  box: TerminalCalls,
  command: string | readonly string[],
  options: TerminalCreate,
): Promise<TerminalCreateResult> {
  const create = async (argv: string[]) => {
    const id = `t-${randomId()}`;
    try {
      return await box.call("terminal.create", { ...options, argv, id });
    } catch (error) {
      const refused = error instanceof HawseError && error.admitted === "no";
      // Unless the call was refused, it may have created the terminal.
      if (!refused) box.call("terminal.kill", { id }).catch(() => {});
      throw error;
    }
  };
  if (typeof command !== "string") return await create([...command]);
  try {
    return await create([SHELLS[0], "-c", command]);
  } catch (error) {
    if (!(error instanceof HawseError) || error.code !== "spawn_failed") throw error;
    return await create([SHELLS[1], "-c", command]);
  }
}

/** Throws HawseError if `timeout` isn't a number of seconds above 0. */
function checkTimeout(timeout: number | undefined): void {
  if (timeout === undefined || timeout > 0) return;
  const details = { path: "timeout" };
  throw new HawseError("invalid_params", `timeout is ${timeout}; more than 0 seconds are allowed`, {
    details,
  });
}

/** Waits until a terminal's program asks for input or ends. */
class Follower {
  readonly id: string;
  readonly instance: string;
  readonly #box: TerminalCalls;
  readonly #limit: number;
  readonly #viewerKey = randomId();

  constructor(box: TerminalCalls, { id, instance }: TerminalCreateResult, limit: number) {
    this.#box = box;
    this.id = id;
    this.instance = instance;
    this.#limit = limit;
  }

  call<M extends "terminal.get" | "terminal.kill" | "terminal.send">(
    method: M,
    params: Omit<MethodParams<M>, "id" | "instance">,
  ): Promise<MethodResult<M>> {
    return this.#box.call(method, ...([{ ...params, id: this.id, instance: this.instance }] as never));
  }

  /** Waits for the next question or the end. If `ends` is true, the program is killed when the time is up. */
  async step(since: number, timeout: number | undefined, ends = false): Promise<Step> {
    checkTimeout(timeout);
    const { start } = await this.call("terminal.get", {});
    const first = Math.max(since, start); // the server no longer has the output before `start`
    const viewer = { key: this.#viewerKey, kind: "agent" as const };
    const params = { id: this.id, instance: this.instance, lossless: true, read_only: true, viewer };
    const printed = new OutputTail(this.#box, params, first, this.#limit);
    const wait = new StepWait(this, this.#box);
    try {
      let end = await Promise.race([wait.end(timeout), printed.failed]);
      if (ends && !end.exit && !end.needsInput) {
        await this.call("terminal.kill", {});
        end = await wait.end(undefined);
        if (end.exit) end = { ...end, exit: { ...end.exit, timed_out: true } };
      }
      await printed.reach(end.offset);
      const output = printed.until(end.offset);
      return { ...end, output, missing: end.offset - since - output.length };
    } finally {
      wait.close();
      printed.close();
    }
  }
}

/** Waits for the end of a step. If the connection is lost, the wait is resumed for the rest of its time. */
class StepWait {
  readonly #follower: Follower;
  readonly #box: TerminalCalls;
  #stream: MethodStream<"terminal.wait"> | undefined;
  #closed = false;

  constructor(follower: Follower, box: TerminalCalls) {
    this.#follower = follower;
    this.#box = box;
  }

  /** Returns the question or the exit status, or neither if the time is up. Throws HawseError. */
  async end(timeout: number | undefined): Promise<Pick<Step, "offset" | "needsInput" | "exit">> {
    const until = timeout === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeout * 1000;
    while (!this.#closed) {
      const left = Math.min((until - performance.now()) / 1000, DAY);
      if (left <= 0) break;
      const waited = await this.#once(left);
      if (waited === undefined) continue;
      if (waited.event === "timeout" && left < DAY) break;
      const { offset, exit } = waited;
      if (exit) return { offset, exit, needsInput: undefined };
      if (waited.waiting) return { offset, exit: undefined, needsInput: waited.waiting };
      if (waited.event === "prompt") {
        return { offset, exit: undefined, needsInput: { kind: "no", idle_shell: true } };
      }
      if (waited.event !== "silence") continue;
      const { waiting } = await this.#follower.call("terminal.get", {});
      if (waiting?.kind === "unknown" || waiting?.idle_shell) {
        return { offset, exit: undefined, needsInput: waiting };
      }
    }
    const { offset } = await this.#follower.call("terminal.get", {});
    return { offset, exit: undefined, needsInput: undefined };
  }

  close(): void {
    this.#closed = true;
    this.#stream?.cancel();
  }

  /** Waits once. Returns undefined if the connection was lost; the next wait then continues this one. */
  async #once(timeout: number): Promise<MethodResult<"terminal.wait"> | undefined> {
    const { id, instance } = this.#follower;
    const params = { id, instance, waiting: true, prompt: true, exit: true, silence: QUIET, timeout };
    this.#stream = this.#stream?.again(params) ?? this.#box.stream("terminal.wait", params);
    try {
      const waited = await this.#stream;
      this.#stream = undefined;
      return waited;
    } catch (error) {
      if (!wasInterrupted(error)) throw error;
      return undefined;
    }
  }
}

/**
 * Collects a terminal's output after an offset, and keeps only the last bytes. If the connection is lost, it resumes at
 * the exact byte where it stopped.
 */
class OutputTail {
  /** Rejected if the output can't be read. */
  readonly failed: Promise<never>;
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #offset: number;
  #stream: MethodStream<"terminal.attach"> | undefined;
  #closed = false;
  /** Whether all the output has arrived. */
  #ended = false;
  #changed: () => void = () => {};

  constructor(box: TerminalCalls, params: TerminalAttach, since: number, limit: number) {
    this.#limit = limit;
    this.#offset = since;
    this.failed = new Promise((_, reject) => {
      this.#read(box, params).catch(reject);
    });
    this.failed.catch(() => {}); // prevents an unhandled rejection; the step that reads the output throws the error
  }

  /** Waits until the output up to `offset` has arrived. */
  async reach(offset: number): Promise<void> {
    while (this.#offset < offset && !this.#ended) {
      const changed = new Promise<void>(resolve => {
        this.#changed = resolve;
      });
      await Promise.race([changed, this.failed]);
    }
  }

  /** Returns the bytes kept before `offset`. */
  until(offset: number): Uint8Array {
    const all = joinBytes(this.#chunks);
    const end = Math.max(all.length - (this.#offset - offset), 0);
    return all.slice(Math.max(end - this.#limit, 0), end);
  }

  close(): void {
    this.#closed = true;
    this.#stream?.cancel();
  }

  async #read(box: TerminalCalls, params: TerminalAttach): Promise<void> {
    while (!this.#closed) {
      const next = { ...params, since: this.#offset };
      this.#stream = this.#stream?.again(next) ?? box.stream("terminal.attach", next);
      try {
        for await (const item of this.#stream) {
          if (item.event === "opened" || item.event === "reseed") this.#skipTo(item.value.from);
          else if (item.event === "data" && item.kind !== SCREEN) this.#add(item.bytes);
        }
        this.#ended = true;
        this.#changed();
        return;
      } catch (error) {
        if (!this.#closed && !wasInterrupted(error)) throw error;
      }
    }
  }

  /** Continues at `offset`. If this is not the next offset, output is missing, so all earlier output is dropped. */
  #skipTo(offset: number): void {
    if (offset === this.#offset) return;
    this.#chunks = [];
    this.#held = 0;
    this.#offset = offset;
    this.#changed();
  }

  #add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#held += bytes.length;
    this.#offset += bytes.length;
    for (
      let [first] = this.#chunks;
      first && this.#held - first.length >= this.#limit;
      [first] = this.#chunks
    ) {
      this.#chunks.shift();
      this.#held -= first.length;
    }
    this.#changed();
  }
}
