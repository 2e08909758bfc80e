// Streams that continue after the connection is lost or the server is unavailable, by reopening the same call.

import type { Disposable } from "../base/disposables";
import type { MethodStream, StreamItem } from "../client/streams";
import { wasInterrupted } from "../client/streams";
import { HawseError } from "../wire/errors";
import type { StreamMethod } from "../wire/streams";

/** How long to wait before reopening a call after a temporary error, in milliseconds; doubles with each error. */
const FIRST_DELAY = 500;
const MAX_DELAY = 30_000;

export interface Following<M extends StreamMethod> {
  /** Opens the call, and reopens it whenever the connection is lost. */
  open: () => MethodStream<M>;
  item: (item: StreamItem<M>) => void;
  /** Called when the call has ended with an error that isn't temporary. */
  failed?: (error: HawseError) => void;
  /** Called when the call has ended with its result. */
  ended?: () => void;
}

/** Follows a stream until the returned object is disposed of. */
export function follow<M extends StreamMethod>({ open, item, failed, ended }: Following<M>): Disposable {
  let current: MethodStream<M> | undefined;
  let stopped = false;
  let delay = FIRST_DELAY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async () => {
    while (!stopped) {
      current = open();
      try {
        for await (const each of current) {
          if (stopped) return;
          delay = FIRST_DELAY;
          item(each);
        }
        if (!stopped) ended?.();
        return;
      } catch (problem) {
        if (stopped) return;
        if (!(problem instanceof HawseError)) throw problem;
        if (wasInterrupted(problem)) continue;
        if (!problem.retryable) return failed?.(problem);
        await new Promise(resolve => {
          timer = setTimeout(resolve, delay);
        });
        delay = Math.min(2 * delay, MAX_DELAY);
      }
    }
  };
  void run();
  return {
    dispose: () => {
      stopped = true;
      clearTimeout(timer);
      current?.cancel();
    },
  };
}
