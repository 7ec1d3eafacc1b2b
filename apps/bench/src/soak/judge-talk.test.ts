import { describe, expect, it } from "vitest";
import type { Said } from "../../../gateway/src/door/testing/conversation.ts";
import type { DoorMode, Talk } from "./door-client.ts";
import { judgeStrays, judgeTalk } from "./judge-talk.ts";
import { named } from "./said-names.ts";
import { whoTalks } from "./who-talks.ts";

const person = (name: string): Said => ({ uid: null, by: "person", text: named(name) });
const reply = (name: string): Said => ({ uid: null, by: "model", text: named(name), calls: [] });
const SAID = [person("a:0"), reply("reply 1"), person("a:1"), reply("reply 2")];

const talkOf = (changes: Partial<Talk> = {}): Talk => ({
  ...{ name: "a", mode: "transparent" as DoorMode, api: "openai-responses" },
  ...{ sessions: new Set(["s"]), said: SAID, heard: SAID.length, messages: 2, trail: ["asks"] },
  acrossKill: new Set(),
  ...changes,
});

function wrongIn(stored: readonly string[], changes: Partial<Talk> = {}) {
  const { lost, doubled, misplaced } = judgeTalk(talkOf(changes), stored);
  return { lost, doubled, misplaced };
}

const FINE = { lost: [], doubled: [], misplaced: [] };
const STORED = ["a:0", "reply 1", "a:1", "reply 2"];

describe("a conversation at the door", () => {
  it("is fine where all that was heard stands once and in order", () => {
    expect(wrongIn(STORED)).toEqual(FINE);
    // Whole at the door, and dropped by its client.
    expect(wrongIn(["a:0", "reply 1", "a:1", "reply 7", "reply 2"])).toEqual(FINE);
  });

  it("has lost what is not there, and doubled what is there twice", () => {
    expect(wrongIn(["a:0", "reply 1", "reply 2", "reply 2"])).toEqual({
      ...{ lost: ["a:1"], doubled: ["reply 2"], misplaced: [] },
    });
  });

  it("has one session, of its own, in which nothing changes places", () => {
    expect(wrongIn(["a:0", "a:1", "reply 1", "reply 2"]).misplaced).toEqual(["a:1 out of order"]);
    expect(wrongIn([...STORED, "b:0"]).misplaced).toEqual(["b:0, in the session of a"]);
    const sessions = new Set(["s", "t"]);
    expect(wrongIn(STORED, { sessions }).misplaced).toEqual(["a in s and t"]);
  });

  it("may hold what its client gave up, where the session has the history", () => {
    expect(wrongIn([...STORED, "a:2"], { mode: "session" })).toEqual(FINE);
    expect(wrongIn([...STORED, "a:2"]).misplaced).toEqual(["a:2, in the session of a"]);
  });

  it("has a message twice without fault where its session was killed behind a whole reply", () => {
    const stored = ["a:0", "reply 1", "a:1", "reply 7", "a:1", "reply 2"];
    const acrossKill = new Set(["a:1"]);
    expect(wrongIn(stored, { mode: "session", acrossKill })).toEqual(FINE);
    expect(judgeTalk(talkOf({ mode: "session", acrossKill }), stored).saidTwice).toEqual(["a:1"]);
    expect(wrongIn(stored, { acrossKill }).doubled).toEqual(["a:1"]);
    expect(wrongIn(stored, { mode: "session" }).doubled).toEqual(["a:1"]);
  });

  it("is told step by step where it was not answered", () => {
    const { misplaced, trails } = judgeTalk(talkOf({ heard: 2 }), STORED);
    expect(misplaced).toEqual(["a, unanswered at the end"]);
    expect(trails).toContain("a asks");
  });
});

it("a session in which nobody talks is told, but for those of other agents", () => {
  const sessions = ["s", "soak-1", "door-2", "agent:demo:main"];
  expect(judgeStrays(sessions, [{ session: "soak-1" }], [talkOf()]).misplaced).toEqual([
    "session door-2, which is nobody's",
  ]);
});

it("a third of the clients keep their history, a sixth name a session, on all wires in turn", () => {
  const talkers = Array.from({ length: 24 }, (_, at) => whoTalks(at));
  const wiresOf = (mode: DoorMode) =>
    talkers.flatMap((one) => (one?.mode === mode ? [one.api] : []));
  const wires = [
    ...["openai-completions", "openai-responses"],
    ...["anthropic-messages", "google-generative-ai"],
  ];
  expect(wiresOf("transparent")).toEqual([...wires, ...wires]);
  expect(wiresOf("session")).toEqual(wires);
});
