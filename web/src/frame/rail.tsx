// The rail: a column of icons with the selected view beside it. Hidden by default.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Icon } from "./icon";
import type { AppContext, RailProps, RailView } from "./pane";
import type { Registry } from "./registry";

export interface RailState {
  /** Whether the rail is shown. */
  readonly open: Signal<boolean>;
  /** Id of the view next to the icons; empty if no view is open. */
  readonly view: Signal<string>;
  /** Whether the view was opened by the page after a reload, rather than by the user. */
  restored?: boolean;
}

interface Props {
  registry: Registry;
  state: RailState;
  app: AppContext;
}

export function Rail({ registry, state, app }: Props) {
  const views = registry.rail.value;
  if (!state.open.value || views.length === 0) return null;
  const view = views.find(({ id }) => id === state.view.value);
  return (
    <div class="rail" data-region>
      <nav aria-label="Views">
        {views.map(({ id, label, icon }) => (
          <button
            key={id}
            type="button"
            title={label}
            aria-label={label}
            aria-expanded={id === view?.id}
            onClick={() => {
              state.view.value = id === view?.id ? "" : id;
            }}
          >
            <Icon icon={icon} />
          </button>
        ))}
      </nav>
      {view && <Panel key={view.id} view={view} app={app} restored={state.restored === true} />}
    </div>
  );
}

function Panel({ view, ...props }: RailProps & { view: RailView }) {
  const loaded = useSignal<ComponentType<RailProps> | undefined>(undefined);
  const failed = useSignal(false);
  useEffect(() => {
    let shown = true;
    view.load().then(
      component => {
        if (shown) loaded.value = component;
      },
      () => {
        failed.value = true;
      },
    );
    return () => {
      shown = false;
    };
  }, [view]);
  const View = loaded.value;
  return (
    <section class="rail-view" aria-label={view.label}>
      <h2>{view.label}</h2>
      {View && <View {...props} />}
      {failed.value && <p role="alert">This view could not be loaded. Reload the page.</p>}
    </section>
  );
}
