// The outcome of a command as one value: the command runs to completion even if the connection is lost, and the
// beginning of its output is kept.

import { HawseError, restarted } from "../wire/errors";
import { STDERR } from "../wire/frames";
import type { Exec, ExecResult } from "../wire/methods";
import { joinBytes } from "./join-bytes";
import { type MethodStream, type StreamData, wasInterrupted } from "./streams";

export interface ExecOptions
  extends Omit<Exec, "argv" | "command" | "since" | "input" | "stdin" | "max_output"> {
  /** Maximum number of bytes to keep from the start of stdout and of stderr; default: 64 MiB. */
  max_output?: number;
  /** With `true`, the command runs in a terminal: see `TerminalExecOptions`. */
  terminal?: false | undefined;
}

/** The outcome of a command. */
export interface ExecOutcome extends Omit<ExecResult, "stdout" | "stderr"> {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** stdout as text. */
  readonly text: string;
  /** Whether any output beyond the kept bytes was dropped. */
  readonly truncated: boolean;
}

/**
 * Number of bytes of each stream kept by default, as in the Python client. For longer output, read a process's
 * `output`.
 */
const OUTPUT_MAX = 67_108_864;

/**
 * Runs a command and collects its output. Throws HawseError with code `too_large` if output was lost before it was
 * received, or `outcome_unknown` if the sandbox was restarted during the command.
 *
 * @param open - Opens the call with a key.
 */
export async function collectExec(
  open: (params: Exec) => MethodStream<"exec">,
  command: string | readonly string[],
  options: ExecOptions,
): Promise<ExecOutcome> {
  const limit = options.max_output ?? OUTPUT_MAX;
  const what = typeof command === "string" ? { command } : { argv: [...command] };
  const { terminal: _, ...given } = options;
  const params: Exec = { ...given, ...what, max_output: limit };
  const output = { stdout: new Output("stdout", limit), stderr: new Output("stderr", limit) };
  let instance: string | undefined;
  let running: MethodStream<"exec"> | undefined;
  for (;;) {
    const since = { stdout: output.stdout.offset, stderr: output.stderr.offset };
    running = running?.again({ ...params, since }) ?? open(params);
    try {
      for await (const item of running) {
        if (item.event === "data") output[item.kind === STDERR ? "stderr" : "stdout"].add(item);
        else if (item.event === "truncated") output[item.value.stream].reach(item.value.from);
        else {
          if (instance !== undefined && instance !== item.value.instance) throw restarted("the command");
          instance = item.value.instance;
        }
      }
      return outcome(await running.result, output, limit);
    } catch (error) {
      if (!wasInterrupted(error)) throw error;
    }
  }
}

function outcome(end: ExecResult, output: Record<"stdout" | "stderr", Output>, limit: number): ExecOutcome {
  for (const stream of ["stdout", "stderr"] as const) output[stream].reach(Math.min(end[stream], limit));
  const [stdout, stderr] = [output.stdout.bytes, output.stderr.bytes];
  const truncated = Math.max(end.stdout, end.stderr) > limit;
  return { ...end, stdout, stderr, text: new TextDecoder().decode(stdout), truncated };
}

/** Collects the first bytes of one stream. */
class Output {
  /** Position after the last byte received. */
  offset = 0;
  readonly #stream: string;
  readonly #limit: number;
  readonly #chunks: Uint8Array[] = [];

  constructor(stream: string, limit: number) {
    this.#stream = stream;
    this.#limit = limit;
  }

  get bytes(): Uint8Array {
    return joinBytes(this.#chunks);
  }

  add({ offset, bytes }: StreamData): void {
    this.reach(offset);
    this.#chunks.push(bytes.subarray(0, Math.max(0, this.#limit - offset)));
    this.offset = offset + bytes.length;
  }

  /** Throws if bytes before `offset` haven't been received and the server no longer has them. */
  reach(offset: number): void {
    const missing = offset - this.offset;
    if (missing <= 0) return;
    const details = { stream: this.#stream, missing };
    throw new HawseError("too_large", `${missing} bytes of ${this.#stream} are no longer kept`, {
      admitted: "yes",
      details,
    });
  }
}
