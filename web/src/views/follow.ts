// Streams that continue after the connection is lost, by reopening the same call.

import type { Disposable } from "../base/disposables";
import type { MethodStream, StreamItem } from "../client/streams";
import { wasInterrupted } from "../client/streams";
import { HawseError } from "../wire/errors";
import type { StreamMethod } from "../wire/streams";

export interface Following<M extends StreamMethod> {
  /** Opens the call, and reopens it whenever the connection is lost. */
  open: () => MethodStream<M>;
  item: (item: StreamItem<M>) => void;
  /** Called when the call has ended with an error other than a lost connection. */
  failed?: (error: HawseError) => void;
  /** Called when the call has ended with its result. */
  ended?: () => void;
}

/** Follows a stream until the returned object is disposed of. */
export function follow<M extends StreamMethod>({ open, item, failed, ended }: Following<M>): Disposable {
  let current: MethodStream<M> | undefined;
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      current = open();
      try {
        for await (const each of current) {
          if (stopped) return;
          item(each);
        }
        if (!stopped) ended?.();
        return;
      } catch (problem) {
        if (stopped) return;
        if (!(problem instanceof HawseError)) throw problem;
        if (!wasInterrupted(problem)) return failed?.(problem);
      }
    }
  };
  void run();
  return {
    dispose: () => {
      stopped = true;
      current?.cancel();
    },
  };
}
