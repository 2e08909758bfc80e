// Types for the messages in docs/wire.md: sections 2 (control messages), 3 (frames) and 7 (limits).

export type Admitted = "yes" | "no" | "unknown";

export interface Limits {
  /** Maximum size of a control message, in bytes. */
  text: number;
  /** Maximum size of a frame's payload, in bytes. */
  payload: number;
  channels: number;
  window_max: number;
  /** Initial input credit for a new channel, in bytes. */
  input_window: number;
  backlog: number;
  hello_timeout: number;
}

export interface Hello {
  type: "hello";
  protocol: 1;
  client: string;
  window: number;
  token?: string;
}

export interface Call {
  type: "call";
  ch: number;
  method: string;
  sandbox?: string;
  params?: object;
  key?: string;
  timeout?: number;
  /** For a repeated call with a key: seconds since the call was first sent. */
  age?: number;
  /** The W3C `traceparent` of the caller's span. */
  trace?: string;
}

export interface Cancel {
  type: "cancel";
  ch: number;
}

export interface End {
  type: "end";
  ch: number;
}

export interface Credit {
  type: "credit";
  ch: number;
  bytes: number;
}

export interface Ping {
  type: "ping";
  t: number;
}

export interface Pong {
  type: "pong";
  t: number;
}

export type ClientMessage = Hello | Call | Cancel | End | Credit | Ping | Pong;

export interface Welcome {
  type: "welcome";
  protocol: 1;
  server: string;
  identity: string;
  role: string;
  limits: Limits;
  abilities: string[];
}

export interface ChannelEvent {
  type: "event";
  ch: number;
  name: string;
  value: unknown;
  seq?: number;
}

export interface Result {
  type: "result";
  ch: number;
  value: unknown;
}

export interface ErrorMessage {
  type: "error";
  ch?: number;
  code: string;
  message: string;
  retryable: boolean;
  admitted: Admitted;
  details?: Record<string, unknown>;
  /** The call's id in the gateway's logs. */
  request?: string;
}

export interface GoAway {
  type: "goaway";
  reason: string;
  retry_after: number;
}

export type ServerMessage = Welcome | ChannelEvent | Result | ErrorMessage | Credit | Ping | Pong | GoAway;

/** 0 input · 1 output, stdout or a file's bytes · 2 stderr · 3 screen (a snapshot). */
export type Kind = 0 | 1 | 2 | 3;

export interface Frame {
  kind: Kind;
  ch: number;
  /** Offset of the payload's first byte in its stream. */
  offset: number;
  payload: Uint8Array;
}
