// The fields in the form for creating a sandbox.

export function SandboxFields() {
  const names = { autocapitalize: "none", autocomplete: "off", spellcheck: false } as const;
  return (
    <>
      <label for="sandbox-id">Name</label>
      <input
        id="sandbox-id"
        name="id"
        maxLength={64}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        title="Letters, digits, dots, hyphens and underscores, starting with a letter or digit"
        placeholder="optional"
        {...names}
      />
      <label for="sandbox-template" hidden>
        Template
      </label>
      <select id="sandbox-template" name="template" hidden />
      <label for="sandbox-image" hidden>
        Image
      </label>
      <input
        id="sandbox-image"
        name="image"
        list="sandbox-images"
        maxLength={256}
        placeholder="the default, or for example python:3.13"
        hidden
        {...names}
      />
      <datalist id="sandbox-images" />
      <label for="sandbox-network">Network</label>
      <select id="sandbox-network" name="network">
        <option value="">Default</option>
        <option value="private">Private: only itself; previews work</option>
        <option value="host">Host: everything that the machine can reach</option>
        <option value="none">None</option>
      </select>
      <label for="sandbox-env">Environment</label>
      <textarea id="sandbox-env" name="env" rows={2} placeholder="NAME=value, one per line" {...names} />
      <label for="sandbox-labels">Labels</label>
      <textarea
        id="sandbox-labels"
        name="labels"
        rows={2}
        placeholder="NAME=value, one per line"
        {...names}
      />
      <p id="sandbox-problem" class="problem" role="alert" />
      <div class="buttons">
        <button id="sandbox-cancel" class="plain" type="button">
          Cancel
        </button>
        <button id="sandbox-create" class="primary" type="submit">
          Create and open
        </button>
      </div>
    </>
  );
}
