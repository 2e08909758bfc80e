import "@xterm/xterm/css/xterm.css";
import { Terminal } from "@xterm/xterm";
import { HawseClient } from "hawse";
import { HawseAddon } from "hawse/xterm";
import "hawse/element";

const { base = "", token = "" } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const client = new HawseClient({ base, token });
client.connect();
const box = client.sandbox("local");

const terminal = new Terminal({ allowProposedApi: true });
terminal.open(document.querySelector("#terminal") as HTMLElement);
terminal.loadAddon(new HawseAddon(client, { id: "embedded" }));
Object.assign(window, { embedded: terminal }); // for the test

// Frameworks set attributes after the element is in the page, and a page may have to fetch the token.
const element = document.createElement("hawse-terminal");
document.querySelector("#element")?.append(element);
for (const [name, value] of Object.entries({ gateway: base, token, terminal: "embedded", style: "height: 200px" }))
  element.setAttribute(name, value);

const show = (id: string, text: string) => {
  (document.querySelector(id) as HTMLElement).textContent = text;
};
show("#exec", (await box.exec("echo $((40 + 2))")).text);
await box.write("note.txt", "written across origins");
show("#file", await box.readText("note.txt"));
