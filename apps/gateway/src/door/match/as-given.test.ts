// Plays programs with ids of their own for calls, in conversations that are alike.
import { describe, expect, it } from "vitest";
import type { Said, SaidCall } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const model = (text: string, calls: readonly SaidCall[] = []): Said => ({
  ...{ uid: null, by: "model", text, calls },
});
const result = ({ id, name }: SaidCall, text: string): Said => ({
  ...{ uid: null, by: "tools", results: [{ id, name, text }] },
});
const callOf = (id: string): SaidCall => ({ id, name: "list", args: { path: "." } });

let count = 0;
const freshId = (): string => `x${(++count * 7919).toString(36)}Qq${count}zK`;

function startPlay(api: DoorApi) {
  const door = new PlayedDoor();
  const send = (said: readonly Said[], head = "Be kind.") => {
    const request = writeRequest(api, said, { model: "m", head: [head], tools: ["list"] });
    return door.request(api, { request, headers: {} });
  };
  /** A reply that calls, under an id that its client will not show. */
  const call = (asked: ReturnType<typeof send>) =>
    door.reply(asked, { text: "", thinking: "", calls: [callOf(freshId())] });
  return { door, send, call };
}

describe.each(Object.keys(DOOR_WIRES) as DoorApi[])("ids of a client's own by %s", (api) => {
  it("tell two apart that begin alike and are answered alike, by what their tools said", () => {
    const { door, send, call } = startPlay(api);
    const talks = ["a", "b"].map((label) => ({ label, said: [person("Fix it.")] as Said[] }));
    const sessions = talks.map(({ said }) => {
      const asked = send(said);
      call(asked);
      return asked.session;
    });
    const found = [0, 1, 2].flatMap((step) =>
      talks.map(({ label, said }) => {
        const own = callOf(freshId());
        said.push(model("", [own]), result(own, `${label} ${step}`));
        const asked = send(said);
        expect(asked.plan.fresh).toEqual([said.length - 1]);
        call(asked);
        if (step === 1) door.restart();
        return asked.session;
      }),
    );
    expect(new Set(sessions).size).toBe(2);
    expect(found).toEqual([...sessions, ...sessions, ...sessions]);
  });

  it("tell neither of two that had the same, where both have gone on since", () => {
    const { send, call } = startPlay(api);
    const begun = [person("Fix it.")];
    const step = (text: string) => {
      const own = callOf(freshId());
      return [model("", [own]), result(own, text)];
    };
    const sessions = ["a", "b"].map(() => {
      const asked = send(begun);
      call(asked);
      return asked.session;
    });
    const goOn = (labels: readonly string[]) => {
      const asked = send([...begun, ...labels.flatMap(step)]);
      call(asked);
      return asked.session;
    };
    expect([goOn(["same"]), goOn(["same"])]).toEqual(sessions);
    expect([goOn(["same", "a"]), goOn(["same", "b"])]).toEqual(sessions);
    expect([goOn(["same", "b", "b"]), goOn(["same", "a", "a"])]).toEqual(sessions.toReversed());
    expect(sessions).not.toContain(send([...begun, ...step("same"), person("No.")]).session);
  });

  it("are no session's where a model has said something else behind the call", () => {
    const { send, call } = startPlay(api);
    const live = send([person("What is there?")]);
    call(live);
    const own = callOf("call_example_k3J9x");
    const example = [person("What is there?"), model("", [own]), result(own, "a.txt")];
    const other = send([...example, model("There is one file."), person("And now mine.")]);
    expect(other.session).not.toBe(live.session);
  });

  it("are no session's under another system prompt, or behind other calls", () => {
    const { send, call } = startPlay(api);
    const live = send([person("What is there?")]);
    call(live);
    const own = callOf(freshId());
    const asked = [person("What is there?"), model("", [own]), result(own, "a.txt")];
    expect(send(asked, "You are somebody else.").session).not.toBe(live.session);
    const another = { ...own, args: { path: "src" } };
    const next = [asked[0]!, model("", [another]), asked[2]!];
    expect(send(next).session).not.toBe(live.session);
    const third = callOf(freshId());
    const same = [asked[0]!, model("", [third]), result(third, "a.txt")];
    expect(send(same).session).toBe(live.session);
  });

  it("give way to the ones that were given from one request on", () => {
    const { send, door } = startPlay(api);
    const said: Said[] = [person("Fix it.")];
    const sessions = new Set<string>();
    for (let step = 0; step < 6; step++) {
      const given = { ...callOf(freshId()), args: { path: `f${step}` } };
      const asked = send(said);
      sessions.add(asked.session);
      expect(asked.plan.fresh).toEqual([said.length - 1]);
      door.reply(asked, { text: "", thinking: "", calls: [given] });
      said.push(model("", [given]), result(given, `r${step}`));
      if (step === 2)
        for (const [at, one] of said.entries()) {
          if (one.by === "model")
            said[at] = { ...one, calls: one.calls.map((each) => ({ ...each, id: `n${each.id}` })) };
          if (one.by === "tools")
            said[at] = {
              ...one,
              results: one.results.map((each) => ({ ...each, id: `n${each.id}` })),
            };
        }
    }
    expect(sessions.size).toBe(1);
  });
});

it("ids of a client's own are known in a session that has gone on for hundreds of calls", () => {
  const { door, send } = startPlay("openai-completions");
  const said: Said[] = [person("Fix it.")];
  const sessions = new Set<string>();
  for (let step = 0; step < 270; step++) {
    const path = `f${step % 7}`;
    const asked = send(said);
    sessions.add(asked.session);
    expect(asked.plan.fresh).toEqual([said.length - 1]);
    const given = { ...callOf(freshId()), args: { path } };
    door.reply(asked, { text: "", thinking: "", calls: [given] });
    const own = { ...given, id: freshId() };
    said.push(model("", [own]), result(own, `r${step}`));
  }
  expect(sessions.size).toBe(1);
});
