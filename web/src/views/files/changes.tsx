// Shows the differences between two texts, with their names above them.

import "../style/changes.css";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Disposable } from "../../base/disposables";
import type { Comparison } from "./diff-view";

export function Changes({ comparison }: { comparison: Comparison }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    let shown: Disposable | undefined;
    let gone = false;
    const load = async () => {
      const { showDiff } = await import("./diff-view");
      if (gone || !host.current) return;
      const view = await showDiff(host.current, comparison);
      if (gone) view.dispose();
      else shown = view;
    };
    void load();
    return () => {
      gone = true;
      shown?.dispose();
    };
  }, [comparison]);
  const same = comparison.before === comparison.after;
  return (
    <section class="content changes" aria-label="Changes">
      <p class="names">
        <span>{comparison.names[0]}</span>
        <span>{comparison.names[1]}</span>
      </p>
      {same ? <p class="empty">There are no changes.</p> : <div ref={host} class="diff" />}
    </section>
  );
}
