// Lets the memory of the door forget, and be read again from what it wrote.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
const ask = (...said: Said[]) => ({
  request: writeRequest("openai-completions", said, {
    model: "m",
    head: ["Be brief."],
    tools: ["read"],
  }),
  headers: {},
});
const said = (text: string) => ({ text, thinking: "", calls: [] });

describe("the memory of the door", () => {
  it("opens a provisional session, which is none any more when something goes on from its reply", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.reply(first, said("Hello."));
    expect(door.known.session(first.session)?.provisional).toBe(true);
    const next = door.request(
      "openai-completions",
      ask(person("Hi"), model("Hello."), person("Go")),
    );
    expect(next).toMatchObject({ session: first.session, match: { by: "prefix", known: 2 } });
    expect(door.known.session(first.session)?.provisional).toBe(false);
  });

  it("keeps two that begin alike apart by their replies", () => {
    const door = new PlayedDoor();
    const [one, two] = [0, 1].map(() => door.request("openai-completions", ask(person("Hi"))));
    door.reply(two!, said("Second."));
    door.reply(one!, said("First."));
    const next = (reply: string) =>
      door.request("openai-completions", ask(person("Hi"), model(reply), person("Go"))).session;
    expect([next("First."), next("Second.")]).toEqual([one!.session, two!.session]);
    expect(one!.session).not.toBe(two!.session);
  });

  it("takes a request for the same one when it was given up and is sent again", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.reply(first, null);
    const again = door.request("openai-completions", ask(person("Hi")));
    expect(again).toMatchObject({ session: first.session, plan: { fresh: [] } });
  });

  it("goes on after a restart, also where the reply was passed on and never written down", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.restart();
    const next = door.request(
      "openai-completions",
      ask(person("Hi"), model("Lost."), person("Go")),
    );
    expect(next).toMatchObject({ session: first.session, plan: { fresh: [1, 2] } });
  });

  it("knows nothing of a session that it forgot", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.reply(first, said("Hello."));
    door.known.forget(first.session);
    expect([...door.known.sessions()]).toEqual([]);
    const next = door.request(
      "openai-completions",
      ask(person("Hi"), model("Hello."), person("Go")),
    );
    expect(next.match.session).toBeNull();
  });
});
