// The public interface of the npm package `hawse`. It requires no other packages and no DOM:
//
//   const client = new HawseClient({ base: "https://gateway.example/", token });
//   client.connect();
//   const { text } = await client.sandbox("local").exec("uname -a");
//
// `xterm.ts` is the interface for terminals in xterm.js, and `element.ts` provides a custom element with a terminal.

export { type Disposable, DisposableList, Emitter } from "./base/disposables";
export { randomId } from "./base/random-id";
export type {
  AllMethods,
  CallArguments,
  CallRequest,
  MethodName,
  MethodParams,
  MethodResult,
} from "./client/calls";
export type { Channel, ChannelHandlers } from "./client/channels";
export { type ClientOptions, DEFAULT_WINDOW, GatewayClient } from "./client/client";
export type { CodeOptions, CodeOutcome, RichResult } from "./client/code-outcome";
export type { ExecOptions, ExecOutcome } from "./client/exec";
export { HawseClient } from "./client/hawse-client";
export type { Namespace, ProcessOutput, SandboxHandle, WriteOptions } from "./client/sandbox";
export { Sandboxes } from "./client/sandboxes";
export { sealAnswer } from "./client/sealing";
export { MethodStream, type StreamData, type StreamItem } from "./client/streams";
export type { TerminalCommand, TerminalExecOptions } from "./client/terminal-command";
export type { ConnectionState } from "./connection/reconnecting";
export type { ClientSocket, SocketEvent } from "./connection/websocket";
export type { TerminalSink } from "./terminal/sink";
export { type TerminalAddress, TerminalChannel, type TerminalState } from "./terminal/terminal-channel";
export { HawseError, MisuseError, ProtocolViolation } from "./wire/errors";
export type * from "./wire/methods";
export type * from "./wire/protocol";
export type { StreamMethod } from "./wire/streams";
