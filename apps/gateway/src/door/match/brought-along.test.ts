// Begins conversations with examples and greetings that no model was asked for here.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const CALL = { id: "call_example_k3J9x", name: "read", args: { path: "a.txt" } };
const CALLED: readonly Said[] = [
  person("What is in a.txt?"),
  { uid: null, by: "model", text: "", calls: [CALL] },
  { uid: null, by: "tools", results: [{ id: CALL.id, name: "read", text: "content" }] },
  model("It says: content. That is all of it, so there is nothing else to tell of."),
];
const GREETING = [
  person("(start)"),
  model("Hello! I am the assistant of the shop. How may I help you with your order today?"),
];

function startPlay(api: DoorApi) {
  const door = new PlayedDoor();
  const send = (said: readonly Said[], text: string | null) => {
    const request = writeRequest(api, said, { model: "m", head: ["Be kind."], tools: ["read"] });
    const handled = door.request(api, { request, headers: {} });
    door.reply(handled, text === null ? null : { text, thinking: "", calls: [] });
    return handled.session;
  };
  return { door, send };
}

describe.each(Object.keys(DOOR_WIRES) as DoorApi[])("what a client of %s brings along", (api) => {
  it.each([false, true])(
    "tells no session by the id of a call that is its example, restarted %s",
    (restarts) => {
      const { door, send } = startPlay(api);
      const talks = ["Ann", "Bob", "Cy"].map((name) => {
        const begun = [...CALLED, person(`I am ${name}.`)];
        const first = send(begun, `Good morning, ${name}.`);
        if (restarts) door.restart();
        const next = [...begun, model(`Good morning, ${name}.`), person("Go on.")];
        return [first, send(next, `Of course, ${name}.`)];
      });
      for (const [first, next] of talks) expect(next).toBe(first);
      expect(new Set(talks.flat()).size).toBe(talks.length);
    },
  );

  it("tells no session behind a first message that is another's", () => {
    const { send } = startPlay(api);
    const sessions = ["Ann", "Bob"].map((name) =>
      send([person(`The file of ${name}.`), ...CALLED, person("Is it in order?")], "It is."),
    );
    expect(new Set(sessions).size).toBe(2);
  });

  it.each([
    ["is a session each that it was answered", "It is on its way.", 3],
    ["is a retry until it is answered", null, 1],
  ])("and the same words behind it %s", (_, reply, sessions) => {
    const { send } = startPlay(api);
    const asked = [...GREETING, person("Where is my order?")];
    expect(new Set([1, 2, 3].map(() => send(asked, reply))).size).toBe(sessions);
  });
});
