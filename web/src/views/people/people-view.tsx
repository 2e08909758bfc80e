// People in the rail: the viewers of each terminal in the sandbox, including terminals that this page isn't showing.

import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/people.css";
import { useEffect, useMemo } from "preact/hooks";
import type { PeopleContext, RailProps } from "../../frame/pane";
import type { Participant } from "../../wire/methods";
import { PeopleList } from "./people-list";

export function PeopleView({ app }: RailProps) {
  const list = useMemo(() => new PeopleList(sandboxHandle(app.client, app.sandbox)), [app]);
  useEffect(() => () => list.dispose(), [list]);
  const found = list.people.value;
  const people = app.people.value;
  return (
    <div class="view people-view">
      {list.error.value && (
        <p role="alert" class="problem">
          {visible(list.error.value)}
        </p>
      )}
      {found?.terminals.length === 0 && <p class="empty">No one is at a terminal.</p>}
      <ul aria-label="Terminals">
        {found?.terminals.map(({ terminal, viewers }) => (
          <li key={terminal}>
            <button
              type="button"
              title={`Show the terminal ${terminal}`}
              class="place"
              onClick={() => app.open("terminal", { id: terminal }, "tab")}
            >
              {terminal}
            </button>
            <ul aria-label={`People at ${terminal}`}>
              {viewers.map(viewer => (
                <li key={viewer.id}>
                  <i class={viewer.kind} style={{ "--color": viewer.color }} aria-hidden="true" />
                  <span title={visible(viewer.name)}>
                    <bdi>{visible(viewer.name)}</bdi>
                    <small>{about(viewer, people?.me(terminal) === viewer.id)}</small>
                  </span>
                  {people && people.me(terminal) !== viewer.id && (
                    <Actions people={people} terminal={terminal} viewer={viewer} />
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {found && found.more > 0 && <p class="empty">and {found.more} more</p>}
    </div>
  );
}

interface ActionsProps {
  people: PeopleContext;
  terminal: string;
  viewer: Participant;
}

function Actions({ people, terminal, viewer }: ActionsProps) {
  const name = visible(viewer.name);
  const follows = people.follows(terminal, viewer.id);
  return (
    <>
      {people.holds(terminal) && !viewer.read_only && (
        <button
          type="button"
          class="plain"
          aria-label={`Give keyboard of ${terminal} to ${name}`}
          title={`Only ${name} can type then`}
          onClick={() => people.give(terminal, viewer)}
        >
          Give
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-label={`${follows ? "Following" : "Follow"} ${name} at ${terminal}`}
        aria-pressed={follows}
        onClick={() => people.follow(terminal, viewer)}
      >
        {follows ? "Following" : "Follow"}
      </button>
    </>
  );
}

/** Describes a viewer and what they are doing. `own` is true for this page's viewer. */
function about({ kind, guest, read_only, typing, asks }: Participant, own: boolean): string {
  const words = [
    own && "you",
    kind === "agent" && "agent",
    guest && "guest",
    read_only && "view only",
    typing && "typing",
    asks && "asks for the keyboard",
  ];
  return words.filter(Boolean).join(", ");
}
