// Lists the existing contexts, for example those created by agents. A new notebook can show one of them.

import { useEffect, useState } from "preact/hooks";
import { sandboxHandle } from "../../client/sandbox";
import type { AppContext } from "../../frame/pane";
import type { CodeContextInfo } from "../../wire/methods";
import { nameOf, stateText } from "./notebook-toolbar";

export function OtherContexts({
  app,
  own,
  show,
}: {
  app: AppContext;
  own: string;
  show: (id: string) => void;
}) {
  const [contexts, setContexts] = useState<readonly CodeContextInfo[]>([]);
  useEffect(() => {
    let shown = true;
    void sandboxHandle(app.client, app.sandbox)
      .code.list({})
      .then(
        ({ contexts: found }) => shown && setContexts(found.filter(({ id }) => id !== own)),
        () => {}, // guests may not list contexts, so they see none
      );
    return () => {
      shown = false;
    };
  }, [own]);
  if (contexts.length === 0) return null;
  return (
    <section class="others" aria-label="Running contexts">
      <h3>Or follow running code</h3>
      <ul>
        {contexts.map(context => (
          <li key={context.id}>
            <button type="button" onClick={() => show(context.id)}>
              <i class={`dot ${context.running ? "busy" : context.state}`} aria-hidden="true" />
              <strong>{context.id}</strong>
              <span>
                {nameOf(context.language)} · {stateText(context)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
