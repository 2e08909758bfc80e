// A sandbox as an object. Each protocol method is a function, and further functions combine several calls: commands
// with their output, files as bytes, and process output that continues across lost connections.

import { randomId } from "../base/random-id";
import { STDERR } from "../wire/frames";
import type { Exec, FileRead, FileTransferResult, FileWrite, Methods } from "../wire/methods";
import { STREAMS, type StreamMethod } from "../wire/streams";
import type { CallArguments, CallRequest, MethodResult } from "./calls";
import type { GatewayClient } from "./client";
import type { CodeOptions, CodeOutcome } from "./code-outcome";
import { collectExec, type ExecOptions, type ExecOutcome } from "./exec";
import { joinBytes } from "./join-bytes";
import { MethodStream, wasInterrupted } from "./streams";
import type { TerminalCommand, TerminalExecOptions } from "./terminal-command";

/** The methods in the namespace `P`: `Namespace<"file">["stat"]` is `file.stat`. */
export type Namespace<P extends string> = {
  [M in keyof Methods as M extends `${P}.${infer Name}` ? Name : never]: (
    ...args: CallArguments<M>
  ) => M extends StreamMethod ? MethodStream<M> : Promise<MethodResult<M>>;
};

const NAMESPACES = [
  "code",
  "desktop",
  "file",
  "git",
  "port",
  "process",
  "recording",
  "runtime",
  "session",
  "terminal",
  "watch",
] as const;
type Namespaces = { readonly [P in (typeof NAMESPACES)[number]]: Namespace<P> };

export interface ProcessOutput {
  readonly stream: "stdout" | "stderr";
  /** Absolute position of the first byte in its stream. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface WriteOptions extends Omit<FileWrite, "path" | "input"> {
  /** Called with the number of bytes sent. */
  progress?: (sent: number) => void;
  signal?: AbortSignal;
}

export type SandboxHandle = SandboxBase & Namespaces;

const ALL_STREAMS: ReadonlySet<string> = new Set(STREAMS);
/** Number of bytes read from a Blob at a time. */
const SLICE = 262_144;

class SandboxBase {
  readonly id: string;
  readonly #client: GatewayClient;

  constructor(client: GatewayClient, id: string) {
    this.#client = client;
    this.id = id;
  }

  /** Calls a method and returns its result. The call runs once, even if the connection is lost. Throws HawseError. */
  call<M extends keyof Methods>(method: M, ...[params, request]: CallArguments<M>): Promise<MethodResult<M>> {
    const options: CallRequest = { key: randomId(), ...request, sandbox: this.id };
    return this.#client.call(method, ...([params, options] as unknown as CallArguments<M>));
  }

  /** Calls a method that sends events or bytes. */
  stream<M extends StreamMethod>(method: M, ...[params, request]: CallArguments<M>): MethodStream<M> {
    return new MethodStream(this.#client, method, params ?? {}, { ...request, sandbox: this.id });
  }

  /**
   * Runs a command line (a string) or a program with its arguments to completion, exactly once, even if the connection
   * is lost. The first 64 MiB of stdout and stderr are kept; if there is more, the outcome is marked as `truncated`.
   * Throws HawseError.
   *
   * With `terminal: true`, the command runs in a terminal, and the promise is also resolved when a program waits for
   * input. The result has the question, and methods to answer it, to read on, and to end the command.
   */
  exec(command: string | readonly string[], options: TerminalExecOptions): Promise<TerminalCommand>;
  exec(command: string | readonly string[], options?: ExecOptions): Promise<ExecOutcome>;
  async exec(
    command: string | readonly string[],
    options: ExecOptions | TerminalExecOptions = {},
  ): Promise<ExecOutcome | TerminalCommand> {
    if (options.terminal === true) {
      const { execInTerminal } = await import("./terminal-command");
      return await execInTerminal(this as unknown as SandboxHandle, command, options);
    }
    const open = (params: Exec) => this.stream("exec", params, { key: randomId() });
    return await collectExec(open, command, options);
  }

  /**
   * Runs code to completion, even if the connection is lost, and returns its output and results. An error in the code
   * is part of the outcome. Throws HawseError if the code couldn't be run.
   */
  async run(source: string, options: CodeOptions = {}): Promise<CodeOutcome> {
    const { runCode } = await import("./code-outcome");
    return await runCode(this as unknown as SandboxHandle, source, options);
  }

  /** Yields all of a process's output; if the connection is lost, continues at the exact byte where it left off. */
  async *output(id: string): AsyncGenerator<ProcessOutput, void> {
    const since = { stdout: 0, stderr: 0 };
    let instance: string | undefined;
    let attached: MethodStream<"process.attach"> | undefined;
    for (;;) {
      const start = instance === undefined ? {} : { instance };
      const params = { id, since: { ...since }, ...start };
      attached = attached?.again(params) ?? this.stream("process.attach", params);
      try {
        for await (const item of attached) {
          if (item.event === "opened") instance = item.value.instance;
          if (item.event !== "data") continue;
          const stream = item.kind === STDERR ? "stderr" : "stdout";
          since[stream] = item.offset + item.bytes.length;
          yield { stream, offset: item.offset, bytes: item.bytes };
        }
        return;
      } catch (error) {
        if (!wasInterrupted(error)) throw error;
      }
    }
  }

  /**
   * Yields the bytes of a file; if the connection is lost, continues unless the file has changed. Throws HawseError.
   */
  async *read(path: string, options: Omit<FileRead, "path"> = {}): AsyncGenerator<Uint8Array, void> {
    const start = options.offset ?? 0;
    let offset = start;
    let version = options.version;
    let reading: MethodStream<"file.read"> | undefined;
    for (;;) {
      const length = options.length == null ? {} : { length: options.length - (offset - start) };
      const params = { ...options, path, offset, version: version ?? null, ...length };
      reading = reading?.again(params) ?? this.stream("file.read", params);
      try {
        for await (const item of reading) {
          if (item.event === "opened") version = item.value.version;
          if (item.event !== "data") continue;
          offset = item.offset + item.bytes.length;
          yield item.bytes;
        }
        return;
      } catch (error) {
        if (!wasInterrupted(error)) throw error;
      }
    }
  }

  /** Returns the whole file as text. Throws HawseError. */
  async readText(path: string): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.read(path)) chunks.push(chunk);
    return new TextDecoder().decode(joinBytes(chunks));
  }

  /** Replaces a file atomically; if the connection is lost, continues the upload. Throws HawseError. */
  async write(
    path: string,
    data: string | Uint8Array | Blob,
    options: WriteOptions = {},
  ): Promise<FileTransferResult> {
    const { progress, signal, ...params } = options;
    const blob = data instanceof Blob ? data : new Blob([data as BlobPart]);
    const write: FileWrite = { ...params, path, input: randomId() };
    let upload: MethodStream<"file.write"> | undefined;
    for (;;) {
      upload = upload?.again(write) ?? this.stream("file.write", write, { key: randomId() });
      try {
        return await this.#upload(upload, blob, progress, signal);
      } catch (error) {
        if (signal?.aborted || !wasInterrupted(error)) throw error;
      }
    }
  }

  async #upload(
    stream: MethodStream<"file.write">,
    blob: Blob,
    progress: ((sent: number) => void) | undefined,
    signal: AbortSignal | undefined,
  ): Promise<FileTransferResult> {
    const stop = () => stream.cancel();
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      for await (const item of stream) {
        if (item.event !== "opened") continue;
        let at = item.value.input_offset ?? 0;
        stream.inputOffset = at;
        for (; at < blob.size; at = stream.inputOffset) {
          await stream.write(new Uint8Array(await blob.slice(at, at + SLICE).arrayBuffer()));
          progress?.(stream.inputOffset);
        }
        stream.end();
      }
      return await stream.result;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }
}

/** Returns an object for sandbox `id`. It holds no resources and doesn't have to be closed. */
export function sandboxHandle(client: GatewayClient, id: string): SandboxHandle {
  const sandbox = new SandboxBase(client, id);
  for (const prefix of NAMESPACES) {
    Object.defineProperty(sandbox, prefix, { value: namespace(sandbox, prefix), enumerable: true });
  }
  return sandbox as SandboxHandle;
}

function namespace(sandbox: SandboxBase, prefix: string): object {
  return new Proxy(Object.create(null) as object, {
    get: (_, name) => {
      // With a `then` method, `await` would treat the object as a promise.
      if (typeof name !== "string" || name === "then") return undefined;
      const method = `${prefix}.${name}`;
      return (...args: [object?, CallRequest?]) =>
        ALL_STREAMS.has(method)
          ? sandbox.stream(method as StreamMethod, ...(args as [never]))
          : sandbox.call(method as keyof Methods, ...(args as [never]));
    },
  });
}
