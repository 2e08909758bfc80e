// A dialog with a port's public addresses, and a form for adding one.

import "../style/views.css";
import "../style/ports.css";
import { signal } from "@preact/signals";
import { render } from "preact";
import { randomId } from "../../base/random-id";
import { visible } from "../../base/visible";
import type { AppContext } from "../../frame/pane";
import type { TunnelCreate, TunnelInfo } from "../../wire/methods";
import { attempt } from "../attempt";
import { tunnelAddress } from "./tunnel-address";

const DAY = 24 * 3_600;
/** Seconds until a tunnel ends, for each choice; null if it ends with the sandbox. */
const UNTIL: readonly [string, number | null][] = [
  ["with the sandbox", null],
  ["in 1 hour", 3_600],
  ["in 1 day", DAY],
  ["in 1 week", 7 * DAY],
];

/** The choices offered for a tunnel: a label, and the tunnel's kind and provider. */
const THROUGH: readonly [string, Pick<TunnelCreate, "kind" | "provider">][] = [
  ["this gateway: HTTP", {}],
  ["this gateway: TCP", { kind: "tcp" }],
  ["this gateway: TLS", { kind: "tls" }],
  ["Cloudflare: HTTP", { provider: "cloudflared" }],
  ["an SSH server: TCP", { provider: "ssh" }],
];

export async function showTunnels(app: AppContext, port: number): Promise<void> {
  const { client, sandbox } = app;
  const tunnels = signal<readonly TunnelInfo[]>([]);
  const refresh = async () => {
    const found = await client.call("tunnel.list", { sandbox });
    tunnels.value = found.tunnels.filter(each => each.port === port);
  };
  const refused = signal(""); // errors are shown in the dialog, because it covers the page's notices
  const act = (work: () => Promise<unknown>) => {
    refused.value = "";
    return attempt({ toast: text => (refused.value = text) }, async () => {
      await work();
      await refresh();
    });
  };
  const creating = signal(false);
  const create = async (params: TunnelCreate) => {
    creating.value = true; // shown on the button, because some providers need half a minute
    try {
      return await act(() => client.call("tunnel.create", params, { key: randomId() }));
    } finally {
      creating.value = false;
    }
  };
  await refresh();

  const dialog = document.createElement("dialog");
  dialog.className = "question tunnels";
  dialog.ariaLabel = `Public addresses of port ${port}`;
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    render(null, dialog);
    dialog.remove();
  });
  const View = () => (
    <>
      <h2>Public addresses of port {port}</h2>
      <p>Anyone who knows an address can use the port, without a token.</p>
      <ul aria-label="Addresses">
        {tunnels.value.map(tunnel => {
          const address = tunnelAddress(document.baseURI, tunnel);
          return (
            <li key={tunnel.id}>
              {address == null ? (
                <span class="problem">
                  {visible(tunnel.id)}: {visible(tunnel.problem ?? "")}
                </span>
              ) : (
                <>
                  <code>{visible(address)}</code>
                  <button type="button" aria-label={`Copy ${address}`} onClick={() => void app.copy(address)}>
                    Copy
                  </button>
                </>
              )}
              <button
                type="button"
                aria-label={`Delete ${address ?? tunnel.id}`}
                onClick={() =>
                  void act(() =>
                    client.call("tunnel.delete", { sandbox, tunnel: tunnel.id }, { key: randomId() }),
                  )
                }
              >
                Delete
              </button>
            </li>
          );
        })}
      </ul>
      <form
        onSubmit={async event => {
          event.preventDefault();
          // Disabling the button would take the focus away from it, so further presses are ignored instead.
          if (creating.value) return;
          const fields = event.currentTarget;
          const form = new FormData(fields);
          const name = String(form.get("name") ?? "");
          const params = { sandbox, port, ...(name ? { name } : {}) };
          const expires_in = UNTIL[Number(form.get("until"))]?.[1] ?? null;
          const through = THROUGH[Number(form.get("through"))]?.[1];
          if (await create({ ...params, ...through, expires_in })) fields.reset();
        }}
      >
        <label>
          Name
          <input
            name="name"
            maxLength={40}
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            title="lower-case letters, digits and single hyphens"
            placeholder="a random one"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
        </label>
        <label>
          Through
          <select name="through">
            {THROUGH.map(([label], index) => (
              <option key={label} value={index}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          Ends
          <select name="until">
            {UNTIL.map(([label], index) => (
              <option key={label} value={index}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {refused.value && (
          <p role="alert" class="problem">
            {visible(refused.value)}
          </p>
        )}
        <div class="answers">
          <button type="button" onClick={() => dialog.close()}>
            Close
          </button>
          <button type="submit" class="primary" aria-disabled={creating.value}>
            {creating.value ? "Creating…" : "Create"}
          </button>
        </div>
      </form>
    </>
  );
  document.body.append(dialog);
  render(<View />, dialog);
  dialog.showModal();
}
