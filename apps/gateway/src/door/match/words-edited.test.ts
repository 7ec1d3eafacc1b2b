// Lets a client write an earlier message anew.
import { describe, expect, it } from "vitest";
import type { Reply } from "../testing/agents.ts";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const told = (reply: Reply): Said => ({ uid: null, by: "model", ...reply });
const CALL = { id: "call_0", name: "read", args: { path: "a" } };
const CALLED: Reply = { text: "", thinking: "It may be in a.", calls: [CALL] };
const RESULT: Said = {
  uid: null,
  by: "tools",
  results: [{ id: "call_0", name: "read", text: "x" }],
};
const LOOKED: Reply = {
  text: "I looked at the settings of the shop and found seven odd lines in one file.",
  ...{ thinking: "They are odd.", calls: [] },
};

it.each(Object.keys(DOOR_WIRES) as DoorApi[])(
  "goes on in the session of the newest reply, by %s, though ids count up",
  (api) => {
    const door = new PlayedDoor();
    const send = (said: readonly Said[], reply: Reply) => {
      const request = writeRequest(api, said, { model: "m", head: ["Be brief."], tools: ["read"] });
      const handled = door.request(api, { request, headers: {} });
      door.reply(handled, reply);
      return handled;
    };
    const { session } = send([person("Look at it.")], CALLED);
    const history = [told(CALLED), RESULT, person("And?")];
    send([person("Look at it."), ...history], LOOKED);
    const next = [person("Look at it, please."), ...history, told(LOOKED), person("Mend it.")];
    const { match } = send(next, LOOKED);
    expect(match).toMatchObject({ session, by: "words" });
  },
);

describe("a text that stands before the person's newest words alone", () => {
  const replies = ["one", "two", "three"].map(
    (name) => `This is all that there is to say of it, and it is said at length: ${name}.`,
  );
  const asked = ["What is one?", "And two?", "And three?"];
  const round = (now: number): Said[] =>
    asked.slice(0, now + 1).flatMap((text, at) => {
      const words = person(at === now ? `Found for number ${now}:\n${text}` : text);
      return at === now ? [words] : [words, told({ text: replies[at]!, thinking: "", calls: [] })];
    });

  function startPlay(api: DoorApi, tools: readonly string[]) {
    const door = new PlayedDoor();
    const send = (said: readonly Said[], text: string, head = "Be brief.") => {
      const request = writeRequest(api, said, { model: "m", head: [head], tools });
      const handled = door.request(api, { request, headers: {} });
      door.reply(handled, { text, thinking: "", calls: [] });
      return handled;
    };
    return { door, send };
  }

  const wires = Object.keys(DOOR_WIRES) as DoorApi[];
  it.each(wires.flatMap((api) => [["read"], []].map((tools) => [api, tools] as const)))(
    "leaves each round in its session, which stores the newest words alone: %s, tools %j",
    (api, tools) => {
      const { door, send } = startPlay(api, tools);
      const { session } = send(round(0), replies[0]!);
      for (const now of [1, 2]) {
        if (now === 2) door.restart();
        const { match, plan } = send(round(now), replies[now]!);
        expect(match).toMatchObject({ session, by: "words", kind: "turn" });
        expect(plan).toMatchObject({ fresh: [2 * now], edited: [2 * now - 2] });
      }
    },
  );

  it("tells nothing under another prompt, nor behind replies that are not all of the newest", () => {
    const { send } = startPlay("openai-completions", ["read"]);
    const { session } = send(round(0), replies[0]!);
    expect(send(round(1), "Yes.", "You are a reviewer.").session).not.toBe(session);
    send(round(1), replies[1]!);
    expect(send([person("Who?"), ...round(1).slice(1)], "I.").session).not.toBe(session);
  });

  it("tells nothing behind a reply that two were given", () => {
    const { send } = startPlay("openai-completions", ["read"]);
    const sessions = ["Ann", "Bob"].map((name) => send([person(name)], replies[0]!).session);
    expect(sessions).not.toContain(send(round(1), "Yes.").session);
  });
});
