// The sharing dialog: creates a link for guests, with a QR code, and lists the existing links, each with a button to
// revoke it.

import { errorText } from "../../client/error-text";
import "../style/sheet.css";
import "../style/share.css";
import { type Signal, signal } from "@preact/signals";
import { X } from "lucide";
import { render } from "preact";
import { renderSVG } from "uqr";
import { randomId } from "../../base/random-id";
import type { GatewayClient } from "../../client/client";
import { Icon } from "../../frame/icon";
import { HawseError } from "../../wire/errors";
import type { ShareCreate, ShareInfo } from "../../wire/methods";
import { copyText } from "../terminal/clipboard";

export interface ShareOptions {
  client: GatewayClient;
  sandbox: string;
  terminal: string;
  toast: (text: string) => void;
  /** Called when the dialog has closed. */
  closed: () => void;
}

const HOUR = 3_600;
/** Seconds until a link expires, for each choice; null if it expires along with the user's own access. */
const UNTIL: readonly [string, number | null][] = [
  ["1 hour", HOUR],
  ["1 day", 24 * HOUR],
  ["1 week", 7 * 24 * HOUR],
  ["I stop it", null],
];

interface State {
  readonly links: Signal<readonly ShareInfo[]>;
  /** The new link's address. */
  readonly created: Signal<string>;
}

export async function openShare(options: ShareOptions): Promise<void> {
  const { client } = options;
  const state: State = { links: signal([]), created: signal("") };
  const refresh = async () => {
    state.links.value = (await client.call("share.list", {})).links;
  };
  await refresh();
  const dialog = document.createElement("dialog");
  dialog.className = "sheet share";
  dialog.ariaLabel = "Share";
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    render(null, dialog);
    dialog.remove();
    options.closed();
  });
  const attempt = async (action: () => Promise<void>) => {
    try {
      await action();
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      options.toast(errorText(problem));
    }
  };
  const create = (form: FormData) =>
    attempt(async () => {
      const { path } = await client.call("share.create", paramsOf(form, options), { key: randomId() });
      state.created.value = new URL(path.replace(/^\//, ""), new URL(".", document.baseURI)).href;
      await refresh();
    });
  const revoke = (id: string) =>
    attempt(async () => {
      await client.call("share.revoke", { id }, { key: randomId() });
      await refresh();
    });
  document.body.append(dialog);
  const close = () => dialog.close();
  render(<Share state={state} create={create} revoke={revoke} close={close} toast={options.toast} />, dialog);
  dialog.showModal();
}

export function paramsOf(
  form: Pick<FormData, "get">,
  { sandbox, terminal }: Pick<ShareOptions, "sandbox" | "terminal">,
): ShareCreate {
  const until = UNTIL[Number(form.get("until"))]?.[1] ?? null;
  return {
    sandbox,
    terminal: form.get("what") === "terminal" ? terminal : null,
    role: form.get("role") === "writer" ? "writer" : "viewer",
    ...(until === null ? {} : { expires_in: until }),
  };
}

/** Returns a line describing a link. `now` is in milliseconds since 1970. */
export function describeLink(
  { role, terminal, sandbox, expires, users = [] }: ShareInfo,
  now: number,
): string {
  const parts = [
    role === "viewer" ? "Look" : "Type",
    terminal ? `terminal ${terminal}` : `sandbox ${sandbox}`,
    expires == null ? "until stopped" : `for ${duration(expires - now / 1000)}`,
    users.length ? `${users.length} connected` : "not in use",
  ];
  return parts.join(" · ");
}

function duration(seconds: number): string {
  if (seconds >= 48 * HOUR) return `${Math.round(seconds / 24 / HOUR)} days`;
  if (seconds >= 2 * HOUR) return `${Math.round(seconds / HOUR)} hours`;
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes === 60) return "1 hour";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

interface ShareProps {
  state: State;
  create: (form: FormData) => Promise<void>;
  revoke: (id: string) => Promise<void>;
  close: () => void;
  toast: (text: string) => void;
}

function Share({ state, create, revoke, close, toast }: ShareProps) {
  return (
    <>
      <header>
        <h2>Share</h2>
        <button class="icon" type="button" aria-label="Close" title="Close (Escape)" onClick={close}>
          <Icon icon={X} size={16} />
        </button>
      </header>
      <form
        onSubmit={event => {
          event.preventDefault();
          void create(new FormData(event.currentTarget));
        }}
      >
        <Choice name="role" label="Guests can" options={["viewer", "writer"]} labels={["Look", "Type"]} />
        <Choice
          name="what"
          label="What"
          options={["terminal", "sandbox"]}
          labels={["This terminal", "All terminals"]}
        />
        <Choice
          name="until"
          label="Until"
          options={UNTIL.map((_, i) => `${i}`)}
          labels={UNTIL.map(([text]) => text)}
        />
        <button class="primary" type="submit">
          Create link
        </button>
      </form>
      {state.created.value && <Created address={state.created.value} toast={toast} />}
      <h3>Links</h3>
      {state.links.value.length === 0 && <p class="empty">There are no links.</p>}
      <ul aria-label="Links">
        {state.links.value.map(link => (
          <li key={link.id}>
            <span>{describeLink(link, Date.now())}</span>
            <button class="plain" type="button" onClick={() => void revoke(link.id)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ChoiceProps {
  name: string;
  label: string;
  options: readonly string[];
  labels: readonly string[];
}

function Choice({ name, label, options, labels }: ChoiceProps) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {options.map((option, index) => (
        <label key={option}>
          <input type="radio" name={name} value={option} defaultChecked={index === 0} />
          <span>{labels[index]}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Created({ address, toast }: { address: string; toast: (text: string) => void }) {
  const copy = async () =>
    toast((await copyText(address)) ? "Link copied." : "The browser does not allow this page to copy.");
  const code = `data:image/svg+xml,${encodeURIComponent(renderSVG(address))}`;
  return (
    <div class="created">
      <img src={code} alt="QR code of the link" width="132" height="132" />
      <div>
        <input readOnly value={address} aria-label="Link" onFocus={event => event.currentTarget.select()} />
        <button class="primary" type="button" onClick={() => void copy()}>
          Copy
        </button>
        <p>The link is a secret: anyone who has it can use it. It is shown only once.</p>
      </div>
    </div>
  );
}
