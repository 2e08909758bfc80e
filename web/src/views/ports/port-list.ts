// A sandbox's ports: those that programs are listening on, and those with a preview.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Disposable } from "../../base/disposables";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { ExposedPort, OpenPort } from "../../wire/methods";
import { follow } from "../follow";

export interface Port {
  readonly port: number;
  /** Name of the program that is listening; undefined if there is none. */
  readonly process: string | undefined;
  /** Undefined if there is no preview. */
  readonly preview: ExposedPort | undefined;
}

type PortSource = { readonly port: Pick<SandboxHandle["port"], "watch" | "exposed" | "expose" | "unexpose"> };

/** Returns all ports, sorted by number. */
export function mergePorts(open: readonly OpenPort[], exposed: readonly ExposedPort[]): Port[] {
  const numbers = new Set([...open, ...exposed].map(({ port }) => port));
  return [...numbers]
    .sort((a, b) => a - b)
    .map(port => ({
      port,
      process: open.find(each => each.port === port)?.process,
      preview: exposed.find(each => each.port === port),
    }));
}

export class PortList implements Disposable {
  readonly #source: PortSource;
  readonly #ports = signal<readonly Port[] | undefined>(undefined);
  readonly #error = signal("");
  readonly #following: Disposable;
  #open: readonly OpenPort[] = [];

  constructor(source: PortSource) {
    this.#source = source;
    this.#following = follow({
      open: () => source.port.watch({}),
      item: item => {
        if (item.event !== "ports") return;
        this.#open = item.value.ports;
        void this.#refresh();
      },
      failed: error => this.#fail(error),
    });
  }

  /** Undefined until the first list has arrived. */
  readonly ports: ReadonlySignal<readonly Port[] | undefined> = this.#ports;
  /** Why the list isn't available; empty if it is. */
  readonly error: ReadonlySignal<string> = this.#error;

  /** Creates a preview, or returns the existing one. Throws HawseError. */
  async expose(port: number): Promise<ExposedPort> {
    const exposed = await this.#source.port.expose({ port });
    await this.#refresh();
    return exposed;
  }

  /** Revokes the preview. Throws HawseError. */
  async revoke(port: number): Promise<void> {
    await this.#source.port.unexpose({ port });
    await this.#refresh();
  }

  dispose(): void {
    this.#following.dispose();
  }

  async #refresh(): Promise<void> {
    try {
      const { exposed } = await this.#source.port.exposed({});
      this.#ports.value = mergePorts(this.#open, exposed);
      this.#error.value = "";
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#fail(problem);
    }
  }

  #fail({ code, message }: HawseError): void {
    this.#error.value =
      code === "forbidden" ? "You are not allowed to use the ports of this sandbox." : message;
  }
}
