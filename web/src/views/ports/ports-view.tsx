// Ports in the rail: the programs listening in the sandbox, and the ports that have a preview.

import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/rail-list.css";
import "../style/ports.css";
import { Copy, Globe, Link2, QrCode, Unlink2 } from "lucide";
import { useEffect, useMemo } from "preact/hooks";
import { Icon } from "../../frame/icon";
import type { RailProps } from "../../frame/pane";
import { attempt } from "../attempt";
import { PreviewAddresses } from "./address";
import { type Port, PortList } from "./port-list";

export function PortsView({ app }: RailProps) {
  const list = useMemo(() => new PortList(sandboxHandle(app.client, app.sandbox)), [app]);
  const addresses = useMemo(() => new PreviewAddresses(app.client, app.sandbox, document.baseURI), [app]);
  useEffect(() => () => list.dispose(), [list]);
  const act = (work: () => Promise<unknown>) => void attempt(app, work);
  const withAddress = async (port: number, use: (address: string) => unknown) =>
    use(await addresses.of(await list.expose(port)));
  const ports = list.ports.value;

  return (
    <div class="view rail-list ports">
      {list.error.value && (
        <p role="alert" class="problem">
          {visible(list.error.value)}
        </p>
      )}
      {ports?.length === 0 && <p class="empty">No program listens on a port.</p>}
      <ul aria-label="Ports">
        {ports?.map(port => (
          <PortRow
            key={port.port}
            port={port}
            open={() => app.open("preview", { port: String(port.port) }, "right")}
            share={() =>
              act(async () => {
                await list.expose(port.port);
                app.toast(`Port ${port.port} has a preview. Anyone with its address can see it.`);
              })
            }
            copy={() => act(() => withAddress(port.port, app.copy))}
            code={() =>
              act(async () => {
                const { showQr } = await import("./qr-dialog");
                await withAddress(port.port, address => showQr(`Preview of port ${port.port}`, address));
              })
            }
            publish={() => act(async () => (await import("./tunnel-dialog")).showTunnels(app, port.port))}
            stop={() =>
              act(async () => {
                await list.revoke(port.port);
                app.toast(`The preview of port ${port.port} has ended.`);
              })
            }
          />
        ))}
      </ul>
      {ports && !app.readOnly.value && (
        <form
          onSubmit={event => {
            event.preventDefault();
            const field = event.currentTarget.elements.namedItem("port") as HTMLInputElement;
            const number = field.valueAsNumber;
            field.value = "";
            act(() => list.expose(number));
          }}
        >
          <input
            name="port"
            type="number"
            min="1"
            max="65535"
            required
            placeholder="Another port"
            aria-label="Number of a port that is not open yet"
          />
          <button type="submit">Expose</button>
        </form>
      )}
    </div>
  );
}

interface RowProps {
  port: Port;
  open: () => void;
  share: () => void;
  copy: () => void;
  code: () => void;
  publish: () => void;
  stop: () => void;
}

function PortRow({ port: { port, process, preview }, open, share, copy, code, publish, stop }: RowProps) {
  const tool = (label: string, icon: typeof Copy, run: () => void) => (
    <button type="button" class="tool" title={label} aria-label={`${label}: port ${port}`} onClick={run}>
      <Icon icon={icon} size={16} />
    </button>
  );
  const facts = [visible(process ?? "nothing listens"), preview && "exposed"].filter(Boolean);
  return (
    <li data-state={process ? "running" : "closed"}>
      <i class="dot" aria-hidden="true" />
      <button type="button" class="what" title={`Open the preview of port ${port}`} onClick={open}>
        <strong>{port}</strong>
        <span>{facts.join(" · ")}</span>
      </button>
      {preview ? (
        <>
          {tool("Copy the address", Copy, copy)}
          {tool("QR code", QrCode, code)}
          {tool("Stop the preview", Unlink2, stop)}
        </>
      ) : (
        tool("Expose", Link2, share)
      )}
      {tool("Public addresses…", Globe, publish)}
    </li>
  );
}
