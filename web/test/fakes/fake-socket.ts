// A WebSocket whose network the test controls: messages wait until they are delivered, and the connection can be
// cut with any number of them lost.

export type Message = string | Uint8Array;

/** The server's end of the socket. */
export interface ServerEnd {
  receive(data: Message): void;
  closed(): void;
}

export class FakeSocket extends EventTarget {
  binaryType = "blob";
  readyState = 0;
  readonly toServer: Message[] = [];
  readonly toClient: Message[] = [];
  closeCode: number | undefined;
  #server: ServerEnd | undefined;

  open(server: ServerEnd): void {
    this.#server = server;
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  // ---- the client's end

  send(data: Message): void {
    if (this.readyState !== 1) throw new Error("send on a socket that is not open");
    this.toServer.push(typeof data === "string" ? data : data.slice());
  }

  close(code = 1000): void {
    this.closeCode = code;
    this.cut(code);
  }

  // ---- the network

  deliver(direction: "toServer" | "toClient", count = Number.POSITIVE_INFINITY): number {
    let delivered = 0;
    while (delivered < count && this.readyState === 1) {
      const data = this[direction].shift();
      if (data === undefined) break;
      delivered++;
      if (direction === "toServer") this.#server?.receive(data);
      else this.dispatchEvent(Object.assign(new Event("message"), { data: asReceived(data) }));
    }
    return delivered;
  }

  /** Closes the connection; undelivered messages are lost. */
  cut(code = 1006, reason = ""): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.toServer.length = 0;
    this.toClient.length = 0;
    this.#server?.closed();
    this.dispatchEvent(Object.assign(new Event("close"), { code, reason }));
  }
}

function asReceived(data: Message): string | ArrayBuffer {
  return typeof data === "string" ? data : (data.slice().buffer as ArrayBuffer);
}
