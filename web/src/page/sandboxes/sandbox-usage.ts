// Shows a sandbox's activity in the list: its runtime's CPU time and memory over the last minute, the number of running
// programs, and the open ports. Its calls neither start a sandbox nor keep it awake.

import type { Disposable } from "../../base/disposables";
import { make, setText } from "../../base/dom";
import { formatSize } from "../../base/format";
import type { SandboxHandle } from "../../client/sandbox";
import { follow } from "../../views/follow";
import { HawseError } from "../../wire/errors";
import type { OpenPort, RuntimeMetricsResult } from "../../wire/methods";

/** Milliseconds between measurements, and the number of measurements shown. */
const INTERVAL = 2_000;
const SHOWN = 30;
const WIDTH = 72;
const HEIGHT = 18;
/**
 * The minimum full scale for each graph, in percent of one core and in bytes. Lower values look flat, so that an idle
 * sandbox doesn't look busy.
 */
const CPU_FLOOR = 10;
const MEMORY_FLOOR = 64_000_000;

export interface Sample {
  /** Percent of one core since the previous measurement. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

/** The latest measurements of a runtime. */
export class Samples {
  readonly list: Sample[] = [];
  #before: { at: number; cpu: number; started: number } | undefined;

  /** `at` is the time of the measurement in seconds. The list starts over with each new runtime. */
  add({ cpu, memory, started }: Pick<RuntimeMetricsResult, "cpu" | "memory" | "started">, at: number): void {
    const before = this.#before;
    if (before && before.started !== started) this.list.length = 0;
    const same = before?.started === started && at > before.at;
    this.#before = { at, cpu, started };
    if (!before || !same) return;
    this.list.push({ cpu: Math.max(0, ((cpu - before.cpu) / (at - before.at)) * 100), memory });
    if (this.list.length > SHOWN) this.list.shift();
  }
}

/**
 * Returns the path of a line through the values, with the latest at the right edge. The scale ranges from 0 to at least
 * `floor`.
 */
export function sparkline(values: readonly number[], floor: number): string {
  const top = Math.max(floor, ...values);
  const step = WIDTH / (SHOWN - 1);
  const first = WIDTH - (values.length - 1) * step;
  return values
    .map((value, index) => {
      const y = HEIGHT - 1 - (value / top) * (HEIGHT - 2);
      return `${index ? "L" : "M"}${(first + index * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

export class SandboxUsage implements Disposable {
  readonly element = make("span", "usage");
  readonly #box: SandboxHandle;
  readonly #cpu = graph("CPU");
  readonly #memory = graph("memory");
  readonly #counts = make("small", "counts");
  readonly #ports = make("small", "counts");
  #samples = new Samples();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watch: Disposable | undefined;
  #running = false;

  constructor(box: SandboxHandle) {
    this.#box = box;
    this.element.append(this.#cpu.element, this.#memory.element, this.#counts, this.#ports);
    this.element.hidden = true;
  }

  /** Whether the sandbox is running. Its usage is measured only while it is. */
  set running(running: boolean) {
    if (running === this.#running) return;
    this.#running = running;
    if (running) this.#start();
    else this.dispose();
  }

  dispose(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#watch?.dispose();
    this.#watch = undefined;
    this.#samples = new Samples();
    this.element.hidden = true;
  }

  #start(): void {
    void this.#measure();
    this.#watch = follow({
      open: () => this.#box.port.watch({}),
      item: item => item.event === "ports" && this.#showPorts(item.value.ports),
      failed: () => {}, // for example, guests may not watch ports
    });
  }

  async #measure(): Promise<void> {
    try {
      const metrics = await this.#box.runtime.metrics({}, { timeout: 5 });
      if (!this.#running) return;
      this.#samples.add(metrics, performance.now() / 1000);
      this.#show(metrics);
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code === "forbidden") return this.dispose();
    }
    if (this.#running) this.#timer = setTimeout(() => void this.#measure(), INTERVAL);
  }

  #show({ memory, terminals, processes, viewers }: RuntimeMetricsResult): void {
    const { list } = this.#samples;
    const cpu = list.at(-1)?.cpu;
    this.#cpu.show(
      list.map(each => each.cpu),
      CPU_FLOOR,
      cpu === undefined ? "–" : `${cpu.toFixed(0)} %`,
    );
    this.#memory.show(
      list.map(each => each.memory),
      MEMORY_FLOOR,
      formatSize(memory),
    );
    const counts = [
      counted(terminals, "terminal"),
      counted(viewers, "viewer"),
      counted(processes, "process", "processes"),
    ];
    setText(this.#counts, counts.filter(Boolean).join(" · "));
    this.element.hidden = false;
  }

  #showPorts(ports: readonly OpenPort[]): void {
    const shown = ports.slice(0, 4).map(({ port }) => port);
    const more = ports.length > shown.length ? ` and ${ports.length - shown.length} more` : "";
    setText(this.#ports, shown.length ? `port${ports.length > 1 ? "s" : ""} ${shown.join(", ")}${more}` : "");
  }
}

function counted(count: number, one: string, many = `${one}s`): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}

function graph(name: string) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.append(line);
  const text = make("small", "");
  const element = make("span", "graph", svg, text);
  element.title = `${name} of the runtime, which serves terminals, files and processes`;
  return {
    element,
    show: (values: readonly number[], floor: number, now: string) => {
      line.setAttribute("d", sparkline(values, floor));
      setText(text, `${name} ${now}`);
    },
  };
}
