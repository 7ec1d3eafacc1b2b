// Lets the memory of the door forget, and be read again from what it wrote.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { clientKeyOf } from "./client-key.ts";
import type { KnownRequests } from "./known-requests.ts";
import { endOf } from "./plan-ingest.ts";
import { planMatch } from "./plan-match.ts";
import { sketchRequest } from "./sketch.ts";

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

/** The session in which it would be, without a word of it being learned. */
function planned(known: KnownRequests, { request, headers }: ReturnType<typeof ask>) {
  const wire = DOOR_WIRES["openai-completions"];
  const read = wire.read(request.body, request.path)!;
  return planMatch(known, sketchRequest(wire, read, clientKeyOf(headers, request.body))).session;
}

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

  it("keeps two apart that begin with the same example, which no model was asked for here", () => {
    const door = new PlayedDoor();
    const example = [
      person("The cat sleeps."),
      model("A small animal that likes the sun lies down and closes both of its eyes."),
    ];
    const [one, two] = ["dog", "bird"].map((animal) => {
      const handled = door.request("openai-completions", ask(...example, person(animal)));
      door.reply(handled, said(`It is a ${animal}.`));
      return handled;
    });
    expect(two!.session).not.toBe(one!.session);
    const next = [...example, person("dog"), model("It is a dog."), person("Go on.")];
    expect(planned(door.known, ask(...next))).toBe(one!.session);
  });

  it.each(["said", "called"])("knows what it %s, though just so was asked again", (how) => {
    const door = new PlayedDoor();
    const call = { id: "call_1", name: "read", args: { path: "a" } };
    const calls = how === "called" ? [call] : [];
    const words = how === "called" ? "" : "It is fixed now.";
    const reply: Said = { uid: null, by: "model", text: words, calls };
    const next: Said =
      how === "called"
        ? { uid: null, by: "tools", results: [{ id: call.id, name: "read", text: "x" }] }
        : person("Thanks");
    const send = (...history: Said[]) =>
      door.request("openai-responses", {
        request: writeRequest("openai-responses", history, {
          ...{ model: "m", head: ["Be brief."], tools: ["read"] },
        }),
        headers: { "x-session-id": "ses_1", "x-session-affinity": "ses_1" },
      });
    const history = [model("Hello."), person("Fix it")];
    door.reply(send(person("Hi")), said("Hello."));
    door.reply(send(person("Hi"), ...history), { text: words, thinking: "", calls });
    door.reply(send(person("Hi"), ...history), null);
    const { plan } = send(person("Hi, it is me"), ...history, reply, next);
    expect(plan).toMatchObject({ fresh: [4], edited: [0] });
  });

  it("knows what was said twice, though an older request came late and was given up", () => {
    const door = new PlayedDoor();
    const send = (...history: Said[]) =>
      door.request("openai-completions", {
        ...ask(...history),
        headers: { "x-session-id": "ses_1", "x-session-affinity": "ses_1" },
      });
    const first = [person("Hi"), model("Done."), person("Go")];
    const second = [...first, model("Let me look."), person("And?")];
    door.reply(send(person("Hi")), said("Done."));
    door.reply(send(...first), said("Let me look."));
    door.reply(send(...second), said("Done."));
    door.reply(send(...first), null);
    const changed = [person("Hi, it is me"), ...second.slice(1)];
    const { plan } = send(...changed, model("Done."), person("Thanks"));
    expect(plan).toMatchObject({ fresh: [6], edited: [0] });
  });

  it("gives a request without messages up, and keeps others", () => {
    const door = new PlayedDoor();
    const { session } = door.request("openai-completions", ask());
    door.known.giveUp({ session, end: "" });
    expect(door.known.endsAt("")).toMatchObject([{ session, open: false, left: true }]);
  });

  it("takes a request for the same one when it was given up and is sent again", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.reply(first, null);
    const again = door.request("openai-completions", ask(person("Hi")));
    expect(again).toMatchObject({ session: first.session, plan: { fresh: [] } });
  });

  it.each([false, true])(
    "takes it for the same one until that is answered, though one who left had an answer, restarted %s",
    (restarts) => {
      const door = new PlayedDoor();
      const send = () => door.request("openai-completions", ask(person("Hi")));
      const first = send();
      door.reply(first, said("Hello."));
      door.known.giveUp({ session: first.session, ...endOf(first.sketch) });
      const second = send();
      door.reply(second, null);
      if (restarts) door.restart();
      const third = send();
      expect([second.session, third.session]).toEqual([first.session, first.session]);
      door.reply(third, said("Hello again."));
      expect(send().session).not.toBe(first.session);
    },
  );

  it.each([false, true])(
    "takes what is said behind a first turn that was cut short for the same conversation, restarted %s",
    (restarts) => {
      const door = new PlayedDoor();
      const first = door.request("openai-completions", ask(person("Hi")));
      door.reply(first, null);
      if (restarts) door.restart();
      const next = door.request("openai-completions", ask(person("Hi"), person("No, Go")));
      expect(next).toMatchObject({ session: first.session, plan: { fresh: [1] } });
      // Its client has gone on: whoever asks so now is somebody else.
      door.reply(next, null);
      for (const said of [[person("Hi")], [person("Hi"), person("Else")]])
        expect(door.request("openai-completions", ask(...said)).match.session).toBeNull();
    },
  );

  it("takes it for nobody's who was answered, is being answered, or began like another", () => {
    const door = new PlayedDoor();
    const more = ask(person("Hi"), person("No, Go"));
    const one = door.request("openai-completions", ask(person("Hi")));
    expect(planned(door.known, more)).toBeNull();
    const two = door.request("openai-completions", ask(person("Hi")));
    door.reply(one, said("Hello."));
    expect(planned(door.known, more)).toBeNull();
    door.reply(two, null);
    expect(planned(door.known, more)).toBeNull();
    const tools = { model: "m", head: ["Be brief."], tools: [] };
    const alone = door.request("openai-completions", ask(person("Ho")));
    door.reply(alone, null);
    const request = writeRequest("openai-completions", [person("Ho"), person("Title")], tools);
    expect(planned(door.known, { request, headers: {} })).toBeNull();
    expect(planned(door.known, ask(person("Ho"), person("Go")))).toBe(alone.session);
  });

  it.each([false, true])(
    "stores what a client goes on by once, whatever it moves in it, restarted %s",
    (restarts) => {
      const door = new PlayedDoor();
      const send = (...list: Said[]) => door.request("openai-completions", ask(...list));
      const summary =
        "1. The parser was to be fixed, and it is. 2. Nothing else is pending for now.";
      const told = [
        person("Fix the parser."),
        model("It is fixed now, and all of its tests pass."),
      ];
      const first = send(told[0]!);
      door.reply(first, said("It is fixed now, and all of its tests pass."));
      const wish = `Write a summary of this conversation. ${"Name every file. ".repeat(60)}`;
      const asked = send(...told, person(wish));
      expect(asked).toMatchObject({ session: first.session, match: { kind: "compaction" } });
      door.reply(asked, said(summary));
      const goesOn = (more: string) => person(`Before: ${summary}\n\nNow the docs.${more}`);
      const next = send(goesOn("<reminder>Nothing is to do.</reminder>"));
      expect(next).toMatchObject({ session: first.session, plan: { fresh: [0], summary: 0 } });
      door.reply(next, said("The docs say now how the parser is called."));
      if (restarts) door.restart();
      const reply = model("The docs say now how the parser is called.");
      const later = send(goesOn(""), reply, person("Go on.<reminder>Nothing is to do.</reminder>"));
      expect(later).toMatchObject({ session: first.session, plan: { fresh: [2], edited: [] } });
      // Where nothing of before stands behind it, another request may be in it.
      const back = send(goesOn(" No, the tests."));
      expect(back).toMatchObject({ session: first.session, plan: { fresh: [0] } });
    },
  );

  it("holds no session for its own parent, also where an older journal does", () => {
    const door = new PlayedDoor();
    const headers = { "x-session-id": "ses_1", "x-session-affinity": "ses_1" };
    const told = [person("Fix the parser."), model("It is fixed now, and all its tests pass.")];
    const first = door.request("openai-completions", { ...ask(told[0]!), headers });
    door.reply(first, said("It is fixed now, and all its tests pass."));
    const wish = person(`Write a summary of this conversation. ${"Name every file. ".repeat(60)}`);
    const toolless = { model: "m", head: ["Be brief."], tools: [] };
    const request = writeRequest("openai-completions", [...told, wish], toolless);
    const asked = door.request("openai-completions", { request, headers });
    expect(asked).toMatchObject({ session: first.session, match: { kind: "compaction" } });
    expect(asked.match.parent).toBeUndefined();
    const title = writeRequest("openai-completions", [person("A title.")], toolless);
    const beside = door.request("openai-completions", { request: title, headers });
    expect(beside.match).toMatchObject({ session: null, parent: first.session });
    for (const event of door.events) if (event.type === "request") event.parent = event.session;
    door.restart();
    for (const { parent } of door.known.sessions()) expect(parent).toBeUndefined();
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

  it("takes a turn without tools, with the same system prompt, for a turn like others", () => {
    const door = new PlayedDoor();
    const told = [person("Hi"), model("Hello."), person("Plan it.")];
    const planned = writeRequest("openai-completions", told, {
      ...{ model: "m", head: ["Be brief."], tools: [] },
    });
    door.reply(door.request("openai-completions", ask(person("Hi"))), said("Hello."));
    const plan = door.request("openai-completions", { request: planned, headers: {} });
    expect(plan).toMatchObject({ match: { kind: "turn" }, plan: { fresh: [2] } });
    door.reply(plan, said("A plan."));
    const next = door.request(
      "openai-completions",
      ask(...told, model("A plan."), person("Build it.")),
    );
    expect(next).toMatchObject({ session: plan.session, plan: { fresh: [4] } });
  });

  it("stores what was asked beside a session when a turn goes on from it", () => {
    const door = new PlayedDoor();
    const first = door.request("openai-completions", ask(person("Hi")));
    door.reply(first, said("Hello."));
    const told = [person("Hi"), model("Hello."), person("Check it.")];
    const beside = writeRequest("openai-completions", told, {
      ...{ model: "m", head: ["You are somebody else."], tools: [] },
    });
    const side = door.request("openai-completions", { request: beside, headers: {} });
    expect(side).toMatchObject({ match: { kind: "side" }, plan: { fresh: [] } });
    door.reply(side, said("It is right."));
    const next = door.request(
      "openai-completions",
      ask(...told, model("It is right."), person("Go")),
    );
    expect(next).toMatchObject({ session: first.session, plan: { fresh: [2, 3, 4] } });
  });

  it("knows a conversation whose client has written the first part of its first message anew", () => {
    const door = new PlayedDoor();
    const request = (date: string, more: readonly object[]) => {
      const parts = [{ text: `Today is ${date}.` }, { text: "Fix the parser." }];
      const body = { contents: [{ role: "user", parts }, ...more] };
      const path = "/v1beta/models/m:streamGenerateContent";
      return door.request("google-generative-ai", {
        request: { path, body, uids: [] },
        headers: {},
      });
    };
    const content = (role: string, text: string) => ({ role, parts: [{ text }] });
    const first = request("Monday", []);
    door.reply(first, said("It is fixed."));
    const other = request("Tuesday", []);
    expect(other.session).not.toBe(first.session);
    const next = request("Friday", [content("model", "It is fixed."), content("user", "Go on")]);
    expect(next).toMatchObject({ session: first.session, plan: { fresh: [2] } });
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
