import { expect, test } from "vitest";
import { importScheme, MAX_FILE, SchemeError } from "../../../src/page/settings/scheme-import";

function entry(key: string, red: number, green: number, blue: number): string {
  const part = (name: string, value: number) => `<key>${name} Component</key>\n<real>${value}</real>`;
  const space = "<key>Color Space</key><string>sRGB</string>";
  return `<key>${key}</key><dict>${part("Red", red)}${space}${part("Green", green)}${part("Blue", blue)}</dict>`;
}

const ITERM = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
${entry("Ansi 1 Color", 1, 0, 0.5)}
${entry("Ansi 2 Color", 0, 1, 0)}
${entry("Ansi 4 Color", 0, 0, 1)}
${entry("Ansi 9 Color", 2, -1, 0)}
${entry("Ansi 16 Color", 1, 1, 1)}
${entry("Background Color", 0.2, 0.2, 0.2)}
${entry("Foreground Color", 0.8, 0.8, 0.8)}
${entry("Link Color", 1, 1, 1)}
</dict></plist>`;

const VSCODE = `{
  // a comment with "quotes" and a , ]
  "name": "Mine // no comment", /* another , } */
  "colors": {
    "editor.background": "#fafafa",
    "terminal.foreground": "#123",
    "terminal.ansiRed": "#FF0000",
    "terminal.ansiGreen": "#00ff0080",
    "terminal.ansiBlue": "#00f8",
    "terminal.ansiBrightRed": "red",
  },
}`;

test("a scheme of iTerm2 is read", () => {
  const { name, colors } = importScheme("Night.itermcolors", ITERM);
  expect(name).toBe("Night");
  expect(colors).toMatchObject({
    background: "#333333",
    foreground: "#cccccc",
    red: "#ff0080",
    green: "#00ff00",
    blue: "#0000ff",
    brightRed: "#ff0000",
    cursor: "#cccccc",
  });
});

test("a theme of VS Code is read, with comments and commas at the ends", () => {
  const { name, colors } = importScheme("Day-color-theme.json", VSCODE);
  expect(name).toBe("Day");
  expect(colors).toMatchObject({
    background: "#fafafa",
    foreground: "#112233",
    red: "#ff0000",
    green: "#00ff00",
    blue: "#0000ff",
  });
  expect(colors).not.toHaveProperty("brightRed");
});

test("settings of VS Code with colours are read too", () => {
  const inner = JSON.parse(VSCODE.replace(/\/\/ a.*|\/\* .* \*\//g, "").replace(/,(\s*})/g, "$1")) as object;
  const text = JSON.stringify({ "workbench.colorCustomizations": (inner as { colors: object }).colors });
  expect(importScheme("x.json", text).colors.background).toBe("#fafafa");
});

test.each([
  ["", "neither"],
  ["no json", "neither"],
  ["null", "no background"],
  ['{"colors": []}', "no background"],
  ['{"colors": {"editor.background": "#fff", "foreground": "#000"}}', "no colours for programs"],
  ["<?xml?><plist><dict></dict></dict></dict></plist>", "no background"],
  [`{"colors": "${"x".repeat(MAX_FILE)}"}`, "too large"],
])("the file %.40j is refused", (text, message) => {
  expect(() => importScheme("x", text)).toThrow(SchemeError);
  expect(() => importScheme("x", text)).toThrow(message);
});

test.each(['"\\', "/*", '"', ",", "<key>", "<dict>", "{"])("a file full of %j takes no time", part => {
  expect(() => importScheme("x", part.repeat(300_000 / part.length))).toThrow(SchemeError);
  expect(() => importScheme("x", `<plist>${part.repeat(300_000 / part.length)}`)).toThrow(SchemeError);
});
