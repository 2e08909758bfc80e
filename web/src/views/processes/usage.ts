// CPU time and memory of processes, read from `/proc/PID/stat` in the sandbox (proc(5)). If a process's file can't be
// read, for example because the process has ended, no usage is reported for it.

import { HawseError } from "../../wire/errors";
import type { ProcessInfo } from "../../wire/methods";

export interface Usage {
  /** CPU usage since the last measurement, or since the process started, in percent of one core. */
  readonly cpu: number;
  /** Resident memory in bytes. */
  readonly memory: number;
}

/** Maximum number of processes to measure; each measurement is a call. */
const MEASURED = 50;
/** CPU time ticks per second: USER_HZ, which is 100 on all Linux platforms in use. */
const TICKS = 100;
const PAGE = 4_096;

interface Sample {
  readonly at: number;
  readonly seconds: number;
}

export class UsageMeter {
  readonly #read: (path: string) => Promise<string>;
  readonly #elapsed: () => number;
  readonly #date: () => number;
  #samples = new Map<string, Sample>();

  /**
   * `elapsed` returns seconds unaffected by date changes; `date` returns seconds since 1970, the same unit as
   * `started`.
   */
  constructor(
    read: (path: string) => Promise<string>,
    elapsed: () => number = () => performance.now() / 1000,
    date: () => number = () => Date.now() / 1000,
  ) {
    this.#read = read;
    this.#elapsed = elapsed;
    this.#date = date;
  }

  /** Returns the usage, keyed by process id. */
  async measure(processes: readonly ProcessInfo[]): Promise<ReadonlyMap<string, Usage>> {
    const found = new Map<string, Usage>();
    const samples = new Map<string, Sample>();
    await Promise.all(
      processes.slice(-MEASURED).map(async ({ id, instance, pid, started }) => {
        const stat = await this.#stat(pid);
        if (!stat) return;
        const at = this.#elapsed();
        const age = started == null ? 0 : this.#date() - started;
        const before = this.#samples.get(instance) ?? { at: at - age, seconds: 0 };
        samples.set(instance, { at, seconds: stat.seconds });
        const elapsed = Math.max(0.1, at - before.at);
        found.set(id, {
          cpu: Math.max(0, ((stat.seconds - before.seconds) / elapsed) * 100),
          memory: stat.memory,
        });
      }),
    );
    this.#samples = samples;
    return found;
  }

  async #stat(pid: number): Promise<{ seconds: number; memory: number } | undefined> {
    try {
      const text = await this.#read(`/proc/${pid}/stat`);
      // The program's name is in parentheses and can contain any characters; the fields after it start with the third
      // field.
      const fields = text
        .slice(text.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15) as [
        number,
        number,
        number,
        number,
      ];
      const seconds = (user + system + childrenUser + childrenSystem) / TICKS;
      const memory = Math.max(0, (fields[21] ?? 0) * PAGE);
      return Number.isFinite(seconds) && Number.isFinite(memory) ? { seconds, memory } : undefined;
    } catch (error) {
      if (error instanceof HawseError) return undefined;
      throw error;
    }
  }
}
