// Streams that continue after a lost connection: the same call is opened again.

import type { Disposable } from "../base/disposables";
import type { MethodStream, StreamItem } from "../client/streams";
import { wasInterrupted } from "../client/streams";
import { HawseError } from "../wire/errors";
import type { StreamMethod } from "../wire/streams";

export interface Following<M extends StreamMethod> {
  /** Opens the call, also after each lost connection. */
  open: () => MethodStream<M>;
  item: (item: StreamItem<M>) => void;
  /** The call has ended with an error that is not about the connection. */
  failed?: (error: HawseError) => void;
  /** The call has ended with its result. */
  ended?: () => void;
}

/** Follows a stream until the result is disposed. */
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
