// Asks a guest for a name. Without one, the server names guests `guest-1`, `guest-2` and so on.

import { type Disposable, DisposableList } from "../../base/disposables";
import { make } from "../../base/dom";
import type { Participant } from "../../wire/methods";

/** Set in the tab's storage once the guest has answered, so that a reload doesn't ask again. */
const ASKED = "hawse.asked-name";
/** Maximum length of a name in characters; the server has the same limit. */
const NAME_MAX = 40;

/** Returns whether a viewer is a guest with a name assigned by the server. */
export function isNameless(me: Pick<Participant, "guest" | "name"> | undefined): boolean {
  return me?.guest === true && /^guest-\d+$/.test(me.name);
}

export interface NameQuestion {
  /** The name that the server has assigned. */
  readonly name: string;
  readonly storage: () => Storage;
  readonly rename: (name: string) => void;
  /** Called when the user has declined. */
  readonly declined: () => void;
}

/** Shows the question in `stage`, once per tab. It doesn't take the focus, because the user may be typing. */
export function askName(stage: HTMLElement, { name, storage, rename, declined }: NameQuestion): Disposable {
  const disposables = new DisposableList();
  if (attempt(() => storage().getItem(ASKED))) return disposables;
  const field = make("input", "");
  field.maxLength = NAME_MAX;
  field.setAttribute("autocomplete", "nickname");
  field.spellcheck = false;
  field.placeholder = "Your name";
  field.ariaLabel = "Your name, shown to other viewers";
  const save = make("button", "primary", "Save");
  const later = make("button", "plain", "Not now");
  later.type = "button";
  const form = make(
    "form",
    "notice question",
    make("span", "", `Others see you as ${name}.`),
    field,
    save,
    later,
  );
  form.ariaLabel = "Your name";
  const close = () => {
    attempt(() => storage().setItem(ASKED, "yes"));
    disposables.dispose();
  };
  disposables.listen(form, "submit", event => {
    event.preventDefault();
    const chosen = field.value.trim();
    if (!chosen) return field.focus();
    close();
    rename(chosen);
  });
  disposables.listen(later, "click", () => {
    close();
    declined();
  });
  disposables.listen<KeyboardEvent>(form, "keydown", event => event.key === "Escape" && later.click());
  stage.append(form);
  disposables.defer(() => form.remove());
  return disposables;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or disabled
  }
}
