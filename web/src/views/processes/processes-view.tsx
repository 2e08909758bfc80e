// Processes in the rail: running and ended processes, with CPU time and memory, logs and signals.

import { visible } from "../../base/visible";
import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/rail-list.css";
import "../style/processes.css";
import { signal, useSignal } from "@preact/signals";
import { CircleStop, Logs } from "lucide";
import { useEffect, useMemo } from "preact/hooks";
import { Icon } from "../../frame/icon";
import type { RailProps } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import type { ProcessInfo } from "../../wire/methods";
import { age, memoryText } from "./format";
import { type Usage, UsageMeter } from "./usage";

/** Milliseconds between polls; polling is needed because no event reports a sandbox's processes. */
const INTERVAL = 2_000;
const SIGNALS = ["INT", "TERM", "HUP", "USR1", "STOP", "CONT", "KILL"];

export function ProcessesView({ app }: RailProps) {
  const box = useMemo(() => sandboxHandle(app.client, app.sandbox), [app]);
  const meter = useMemo(() => new UsageMeter(path => box.readText(path)), [box]);
  const list = useMemo(() => signal<readonly ProcessInfo[] | undefined>(undefined), [box]);
  const usage = useSignal<ReadonlyMap<string, Usage>>(new Map());
  const problem = useSignal("");

  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
      problem.value = "";
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code !== "cancelled") problem.value = errorText(error);
    }
  };
  const refresh = () =>
    attempt(async () => {
      const { processes } = await box.process.list({});
      list.value = processes.toReversed();
      usage.value = await meter.measure(processes.filter(({ state }) => state === "running"));
    });

  useEffect(() => {
    let shown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const loop = async () => {
      if (!document.hidden) await refresh();
      if (shown) timer = setTimeout(loop, INTERVAL);
    };
    void loop();
    return () => {
      shown = false;
      clearTimeout(timer);
    };
  }, [box]);

  const processes = list.value;
  return (
    <div class="view rail-list processes">
      {problem.value && (
        <p role="alert" class="problem">
          {visible(problem.value)}
        </p>
      )}
      {processes?.length === 0 && (
        <p class="empty">No process has been started. Commands in terminals are not listed.</p>
      )}
      <ul aria-label="Processes">
        {processes?.map(process => (
          <Process
            key={`${process.id} ${process.instance}`}
            process={process}
            usage={usage.value.get(process.id)}
            readOnly={app.readOnly.value}
            log={() => app.open("log", { id: process.id }, "below")}
            signal={name =>
              attempt(async () => {
                const { id, instance } = process;
                if (name === "KILL") await box.process.kill({ id, instance });
                else await box.process.signal({ id, instance, signal: name });
                await refresh();
              })
            }
          />
        ))}
      </ul>
    </div>
  );
}

interface Props {
  process: ProcessInfo;
  usage: Usage | undefined;
  readOnly: boolean;
  log: () => void;
  signal: (name: string) => Promise<void>;
}

function Process({ process, usage, readOnly, log, signal }: Props) {
  const { id, argv = [], state, exit, started = 0 } = process;
  const running = state === "running";
  const command = visible(argv[1] === "-c" ? (argv[2] ?? "") : argv.join(" "));
  const ended = exit?.signal ?? `exit ${exit?.code ?? "?"}`;
  const facts = running
    ? [
        usage && `${usage.cpu.toFixed(0)}% CPU`,
        usage && memoryText(usage.memory),
        age(Date.now() / 1000 - started),
      ]
    : [ended];
  return (
    <li data-state={running ? "running" : exit?.code === 0 ? "done" : "failed"}>
      <i class="dot" aria-hidden="true" />
      <div class="what">
        <strong title={id}>{id}</strong>
        <code title={command}>{command}</code>
        <span>{facts.filter(Boolean).join(" · ")}</span>
      </div>
      <button type="button" class="tool" title="Log" aria-label={`Log of ${id}`} onClick={log}>
        <Icon icon={Logs} size={16} />
      </button>
      {running && !readOnly && (
        <>
          <select
            class="tool"
            aria-label={`Signal to ${id}`}
            title="Send a signal"
            value=""
            onChange={({ currentTarget }) => {
              const name = currentTarget.value;
              currentTarget.value = "";
              if (name) void signal(name);
            }}
          >
            <option value="">…</option>
            {SIGNALS.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button
            type="button"
            class="tool stop"
            title="Stop it and everything that it has started"
            aria-label={`Stop ${id}`}
            onClick={() => void signal("KILL")}
          >
            <Icon icon={CircleStop} size={16} />
          </button>
        </>
      )}
    </li>
  );
}
