// The list of all shortcuts, derived from the actions.

import { X } from "lucide";
import { render } from "preact";
import { type Action, type Actions, labelOf } from "./actions";
import { Icon } from "./icon";

/** Shortcuts that don't belong to an action of the page. */
export interface Fixed {
  group: string;
  label: string;
  keys: string;
}

interface Line {
  label: string;
  keys: string;
}

/** Returns the shortcuts by group, in the same order as in the action table. */
export function groupsOf(actions: Actions, fixed: readonly Fixed[]): Map<string, Line[]> {
  const groups = new Map<string, Line[]>();
  const add = (group: string, line: Line) => groups.set(group, [...(groups.get(group) ?? []), line]);
  for (const action of actions.all) {
    const keys = actions.shortcut(action.id);
    if (keys) add(action.group, { label: labelOf(action as Action), keys });
  }
  for (const { group, label, keys } of fixed) add(group, { label, keys });
  return groups;
}

export function showShortcuts(actions: Actions, fixed: readonly Fixed[], closed: () => void): void {
  const dialog = document.createElement("dialog");
  dialog.className = "sheet shortcuts";
  dialog.ariaLabel = "Keyboard shortcuts";
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    render(null, dialog);
    dialog.remove();
    closed();
  });
  document.body.append(dialog);
  render(<List groups={groupsOf(actions, fixed)} close={() => dialog.close()} />, dialog);
  dialog.showModal();
}

function List({ groups, close }: { groups: Map<string, Line[]>; close: () => void }) {
  return (
    <>
      <header>
        <h2>Keyboard shortcuts</h2>
        <button class="icon" type="button" aria-label="Close" title="Close (Escape)" onClick={close}>
          <Icon icon={X} size={16} />
        </button>
      </header>
      <div class="columns">
        {[...groups].map(([group, lines]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {lines.map(({ label, keys }) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>
                    <kbd>{keys}</kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </>
  );
}
