// The sheet with the terminal settings. It doesn't cover the terminals, so that each change is visible immediately.

import "../style/settings.css";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { X } from "lucide";
import { type ComponentChildren, render } from "preact";
import { Icon } from "../../frame/icon";
import {
  type ClipboardAccess,
  MAX_SCHEMES,
  type PasteLines,
  type Predict,
  type Preferences,
  type PreferencesStore,
  preferences,
  type RightClick,
} from "./preferences";
import { importScheme, SchemeError } from "./scheme-import";
import { SCHEMES, type SchemePair, themeFor } from "./schemes";
import {
  type ColorScheme,
  clampFontSize,
  FONT_SIZES,
  type Settings,
  type SettingsStore,
  type ThemeName,
  validFont,
} from "./settings";
import type { PageTheme } from "./theme";
import { THEMES } from "./themes";

export interface SettingsSheetOptions {
  settings: SettingsStore;
  theme: PageTheme;
  /** Called when the sheet has closed. */
  closed: () => void;
}

/** Common fonts; the first one is the page's own. */
const FONTS = ["", "Fira Code", "Cascadia Code", "Source Code Pro", "IBM Plex Mono", "Menlo", "Consolas"];

interface State extends SettingsSheetOptions {
  readonly stored: PreferencesStore;
  readonly current: ReadonlySignal<ThemeName>;
  /** The outcome of an import. */
  readonly message: Signal<{ text: string; problem: boolean }>;
}

export function openSettings(options: SettingsSheetOptions): void {
  const { theme, closed } = options;
  const current = signal(theme.current);
  const changed = theme.onChange(name => {
    current.value = name;
  });
  const dialog = document.createElement("dialog");
  dialog.className = "settings-sheet";
  dialog.setAttribute("aria-label", "Settings");
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    changed.dispose();
    render(null, dialog);
    dialog.remove();
    closed();
  });
  document.body.append(dialog);
  const state = { ...options, stored: preferences(), current, message: signal({ text: "", problem: false }) };
  render(<Sheet state={state} close={() => dialog.close()} />, dialog);
  dialog.showModal();
}

function Sheet({ state, close }: { state: State; close: () => void }) {
  return (
    <>
      <header>
        <h2>Settings</h2>
        <button class="icon" type="button" aria-label="Close" title="Close (Escape)" onClick={close}>
          <Icon icon={X} size={18} />
        </button>
      </header>
      <div class="settings-body">
        <Look {...state} />
        <Type {...state} />
        <Behaviour {...state} />
      </div>
    </>
  );
}

function Look({ settings, theme, stored, current, message }: State) {
  const chosen = settings.signal.value;
  const name = current.value;
  const choose = (pair: SchemePair) => settings.update({ dark: pair.dark, light: pair.light });
  const imported = stored.signal.value.schemes;
  return (
    <section aria-labelledby="settings-look">
      <h3 id="settings-look">Colours</h3>
      <Segments<ThemeName | "">
        label="Page"
        value={chosen.theme ?? ""}
        options={[
          ["", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        choose={value => {
          theme.choose(value || undefined);
          settings.update({ theme: theme.chosen });
        }}
      />
      <fieldset class="schemes">
        <legend class="unseen">Colours of the terminal</legend>
        {SCHEMES.map(pair => (
          <SchemeCard
            key={pair.name}
            name={pair.name}
            colors={{ ...THEMES[name], ...pair[name]?.colors } as ColorScheme["colors"]}
            pressed={chosen[name]?.name === pair[name]?.name}
            choose={() => choose(pair)}
          />
        ))}
        {imported.map(scheme => (
          <SchemeCard
            key={`imported ${scheme.name}`}
            name={scheme.name}
            note={themeFor(scheme.colors) === name ? "" : `While the page is ${themeFor(scheme.colors)}`}
            colors={{ ...THEMES[themeFor(scheme.colors)], ...scheme.colors } as ColorScheme["colors"]}
            pressed={chosen[themeFor(scheme.colors)]?.name === scheme.name}
            choose={() => settings.update({ [themeFor(scheme.colors)]: scheme })}
            remove={() => {
              stored.update({ schemes: imported.filter(each => each !== scheme) });
              const side = themeFor(scheme.colors);
              if (chosen[side]?.name === scheme.name) settings.update({ [side]: undefined });
            }}
          />
        ))}
      </fieldset>
      <label class="import">
        <input
          type="file"
          accept=".itermcolors,.json,.jsonc,.xml"
          onChange={event => {
            const input = event.currentTarget;
            const [file] = input.files ?? [];
            if (file) void take(file, { settings, stored, message });
            input.value = "";
          }}
        />
        <span class="plain">Import…</span>
        <small>A scheme of iTerm2 or VS Code</small>
      </label>
      <p class={message.value.problem ? "problem" : "note"} role="status">
        {message.value.text}
      </p>
    </section>
  );
}

async function take(
  file: File,
  { settings, stored, message }: Pick<State, "settings" | "stored" | "message">,
) {
  try {
    const scheme = importScheme(file.name, await file.text());
    const side = themeFor(scheme.colors);
    const others = stored.value.schemes.filter(({ name }) => name !== scheme.name);
    stored.update({ schemes: [...others, scheme].slice(-MAX_SCHEMES) });
    settings.update({ [side]: scheme });
    message.value = { text: `${scheme.name} is used while the page is ${side}.`, problem: false };
  } catch (error) {
    if (!(error instanceof SchemeError || error instanceof DOMException)) throw error;
    message.value = { text: error.message, problem: true };
  }
}

interface SchemeCardProps {
  name: string;
  note?: string;
  colors: ColorScheme["colors"];
  pressed: boolean;
  choose: () => void;
  remove?: () => void;
}

const SHOWN = ["red", "yellow", "green", "cyan", "blue", "magenta"];

function SchemeCard({ name, note, colors, pressed, choose, remove }: SchemeCardProps) {
  return (
    <div class="scheme">
      <button type="button" aria-pressed={pressed} title={note || undefined} onClick={choose}>
        <span class="sample" style={{ background: colors.background }} aria-hidden="true">
          <b style={{ background: colors.green }} />
          <b style={{ background: colors.foreground }} />
          <i>
            {SHOWN.map(hue => (
              <em key={hue} style={{ background: colors[hue] }} />
            ))}
          </i>
        </span>
        <span class="scheme-name">{name}</span>
      </button>
      {remove && (
        <button
          class="icon remove"
          type="button"
          aria-label={`Remove ${name}`}
          title="Remove"
          onClick={remove}
        >
          <Icon icon={X} size={13} />
        </button>
      )}
    </div>
  );
}

function Type({ settings }: State) {
  const { font, fontSize } = settings.signal.value;
  const size = (by: number) => settings.update({ fontSize: clampFontSize(fontSize + by) });
  const missing = font !== "" && !hasFont(font);
  return (
    <section aria-labelledby="settings-type">
      <h3 id="settings-type">Text</h3>
      <div class="row">
        <label for="settings-font">Font</label>
        <input
          id="settings-font"
          list="settings-fonts"
          value={font}
          placeholder="JetBrains Mono"
          maxLength={100}
          autoComplete="off"
          spellcheck={false}
          onChange={event => {
            const name = event.currentTarget.value.trim();
            if (name === "" || validFont(name)) settings.update({ font: name });
            else event.currentTarget.value = font;
          }}
        />
        <datalist id="settings-fonts">
          {FONTS.filter(Boolean).map(name => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      {missing && <p class="note">This system has no font {font}; the page's own is used.</p>}
      <div class="row">
        <span id="settings-size">Size</span>
        <fieldset class="stepper" aria-labelledby="settings-size">
          <button
            type="button"
            aria-label="Smaller"
            disabled={fontSize <= FONT_SIZES.min}
            onClick={() => size(-1)}
          >
            −
          </button>
          <output>{fontSize} px</output>
          <button
            type="button"
            aria-label="Larger"
            disabled={fontSize >= FONT_SIZES.max}
            onClick={() => size(1)}
          >
            +
          </button>
        </fieldset>
      </div>
      <Switch
        label="Screen reader support"
        on={settings.signal.value.screenReader}
        set={screenReader => settings.update({ screenReader } satisfies Partial<Settings>)}
      />
    </section>
  );
}

/** Returns whether a font is installed. If it is, text has the same width whichever fallback font is specified. */
function hasFont(name: string): boolean {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return true;
  const widthOf = (family: string) => {
    context.font = `40px "${name}", ${family}`;
    return context.measureText("mmmiiiWWW").width;
  };
  return widthOf("monospace") === widthOf("serif");
}

function Behaviour({ stored }: State) {
  const value = stored.signal.value;
  const flag = (key: "copyOnSelect" | "notify" | "images" | "sticky", label: string, hint?: string) => (
    <Switch label={label} hint={hint} on={value[key]} set={on => stored.update({ [key]: on })} />
  );
  return (
    <>
      <section aria-labelledby="settings-mouse">
        <h3 id="settings-mouse">Mouse and clipboard</h3>
        {flag("copyOnSelect", "Copy on select")}
        <Select<RightClick>
          label="Right click"
          value={value.rightClick}
          options={[
            ["platform", "System default"],
            ["menu", "Opens a menu"],
            ["paste", "Copies the selection or pastes"],
            ["browser", "Opens the browser's menu"],
          ]}
          choose={rightClick => stored.update({ rightClick })}
        />
        <Select<ClipboardAccess>
          label="Programs that copy"
          value={value.clipboard}
          options={[
            ["ask", "Ask each time"],
            ["allow", "Allow"],
            ["deny", "Never"],
          ]}
          choose={clipboard => stored.update({ clipboard } satisfies Partial<Preferences>)}
        />
        <Select<PasteLines>
          label="Paste several lines"
          value={value.pasteLines}
          options={[
            ["ask", "Ask if the program would run them"],
            ["allow", "Paste"],
          ]}
          choose={pasteLines => stored.update({ pasteLines } satisfies Partial<Preferences>)}
        />
      </section>
      <section aria-labelledby="settings-output">
        <h3 id="settings-output">Output</h3>
        {flag("sticky", "Keep the command in view", "While its output scrolls")}
        <Select<Predict>
          label="Predict typed text"
          value={value.predict}
          options={[
            ["slow", "On slow connections"],
            ["always", "Always"],
            ["never", "Never"],
          ]}
          choose={predict => stored.update({ predict } satisfies Partial<Preferences>)}
        />
        {flag("images", "Show images", "Sixel and the iTerm2 protocol")}
        {flag("notify", "Notifications from programs", "While this page is in the background")}
      </section>
    </>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  choose: (value: T) => void;
}

function Segments<T extends string>({ label, value, options, choose }: ChoiceProps<T>) {
  return (
    <div class="row">
      <span id={`settings-${label}`}>{label}</span>
      <fieldset class="segments" aria-labelledby={`settings-${label}`}>
        {options.map(([each, text]) => (
          <button key={each} type="button" aria-pressed={each === value} onClick={() => choose(each)}>
            {text}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

function Select<T extends string>({ label, value, options, choose }: ChoiceProps<T>) {
  return (
    <label class="row">
      <span>{label}</span>
      <select
        value={value}
        onChange={event => {
          const found = options.find(([each]) => each === event.currentTarget.value);
          if (found) choose(found[0]);
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SwitchProps {
  label: ComponentChildren;
  hint?: string | undefined;
  on: boolean;
  set: (on: boolean) => void;
}

function Switch({ label, hint, on, set }: SwitchProps) {
  return (
    <label class="row">
      <span>
        {label}
        {hint && <small>{hint}</small>}
      </span>
      <input
        type="checkbox"
        role="switch"
        aria-checked={on}
        checked={on}
        onChange={event => set(event.currentTarget.checked)}
      />
    </label>
  );
}
