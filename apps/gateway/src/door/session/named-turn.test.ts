// Speaks in one session by its name and with the whole history, one after the other.
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person, results } from "../../testing/door-client.ts";
import { post } from "../../testing/gateway.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { startEchoes } from "../testing/echoing-upstream.ts";
import type { DoorApi } from "../wires/door-wire.ts";

/** Whole history, or the session's name beside it, or beside what is new alone. */
type Way = "all" | "named" | "part";

const SETTINGS = { agents: { defaults: { model: "chat/model" } } };

async function begin(api: DoorApi, { streaming = false, name = "work" } = {}) {
  const upstream = await startEchoes();
  onTestFinished(upstream.close);
  let door = await startTestDoor(upstream, { settings: SETTINGS });
  const said: Said[] = [];
  const sessions = new Set<string>();
  let session: string | undefined;
  const send = async (given: Said, way: Way) => {
    const old = said.length;
    said.push(given);
    const { answer, text, calls, error } = await ask(
      door,
      api,
      way === "part" ? said.slice(old) : said,
      {
        ...{ model: "model", streaming, tools: ["read"], head: ["You are an agent."] },
        ...(way !== "all" && { session: session ?? name }),
      },
    );
    expect(error).toBeNull();
    session = answer.headers.get("x-clew-session")!;
    sessions.add(session);
    const made = calls.map(({ id, name: tool, arguments: args }) => ({ id, name: tool, args }));
    said.push({ uid: null, by: "model", text, calls: made });
    return made;
  };
  return {
    send,
    says: (words: string, way: Way) => send(person(words), way),
    async restart() {
      await door.stop();
      door = await startTestDoor(upstream, { home: door.home, settings: SETTINGS });
    },
    /** As if it had been killed before anything of the newest turn was in the journal. */
    async kill() {
      const { file } = (await door.gateway.store.find(session!))!;
      await door.stop();
      const journal = (await readFile(`${file}.door`, "utf8")).trimEnd().split("\n");
      await writeFile(`${file}.door`, `${journal.slice(0, -2).join("\n")}\n`);
      door = await startTestDoor(upstream, { home: door.home, settings: SETTINGS });
    },
    type: (text: string) => door.get(`/api/sessions/${session}/messages`, post({ text })),
    /** What stands on the branch of the one session, without what is said in replies. */
    async branch() {
      await door.gateway.door.settled();
      expect([...sessions]).toHaveLength(1);
      return toldIn(await saidIn(door, session!));
    },
    /** Of a client that never heard of it. */
    async elsewhere(words: string) {
      const { answer } = await ask(door, api, [person(words)], {
        ...{ model: "model", streaming, tools: ["read"], head: ["You are an agent."] },
      });
      const other = answer.headers.get("x-clew-session")!;
      await door.gateway.door.settled();
      return { mine: session, session: other, said: toldIn(await saidIn(door, other)) };
    },
  };
}

const toldIn = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/^assistant: Reply \d+ to (.*), of .*$/, "to $1"));

const wordsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `question ${index + 1}`);

describe.each(DOOR_APIS)("by %s, a session that is named now and then", (api) => {
  it.each<[string, Way[]]>([
    ["of a client that sends all", ["all", "named", "all"]],
    ["of one that sends only what is new", ["all", "part", "all"]],
    ["that was named first", ["named", "all", "all"]],
    ["that was named first, with what is new", ["part", "part", "all"]],
    ["by turns", ["all", "part", "named", "all", "named", "all"]],
  ])("holds each message once: %s", async (_whose, ways) => {
    for (const streaming of [false, true]) {
      const { says, restart, branch } = await begin(api, { streaming });
      const words = wordsOf(ways.length);
      for (const [at, way] of ways.entries()) {
        if (streaming) await restart();
        await says(words[at]!, way);
      }
      expect(await branch()).toEqual(words.flatMap((each) => [`user: ${each}`, `to ${each}`]));
    }
  });

  it("holds it once behind a kill before anything was noted", async () => {
    const { says, kill, branch } = await begin(api);
    await says("question 1", "all");
    await says("question 2", "named");
    await kill();
    await says("question 3", "all");
    expect(await branch()).toEqual(wordsOf(3).flatMap((each) => [`user: ${each}`, `to ${each}`]));
  });

  it("holds what its page said beside it", async () => {
    const { says, type, branch } = await begin(api);
    await says("question 1", "all");
    await says("question 2", "part");
    expect((await type("typed words")).status).toBe(200);
    await says("question 3", "all");
    expect(await branch()).toEqual([
      ...["user: question 1", "to question 1", "user: question 2", "to question 2"],
      ...["user: typed words", "to typed words", "user: question 3", "to question 3"],
    ]);
  });

  it.each<[Way, Way]>([
    ["named", "named"],
    ["part", "part"],
    ["named", "all"],
    ["part", "all"],
    ["all", "named"],
    ["all", "part"],
  ])("holds a call once that is made %s and answered %s", async (asking, answering) => {
    const { send, says, restart, branch } = await begin(api);
    await says("question 1", "all");
    const [call] = await says("use a tool", asking);
    await send(results({ id: call!.id, name: call!.name, text: "found" }), answering);
    await restart();
    await says("question 2", "all");
    const lines = await branch();
    expect(lines.filter((line) => line.includes("found"))).toHaveLength(1);
    expect(lines).toEqual([
      ...["user: question 1", "to question 1", "user: use a tool", "assistant: "],
      ...["toolResult: found", "to a result", "user: question 2", "to question 2"],
    ]);
  });

  it("is not the one of who begins another conversation with the same words", async () => {
    const { says, elsewhere, branch } = await begin(api);
    await says("question 1", "all");
    await says("question 2", "part");
    const other = await elsewhere("question 2");
    await says("question 3", "all");
    expect(await branch()).toHaveLength(6);
    expect(other.session).not.toBe(other.mine);
    expect(other.said).toEqual(["user: question 2", "to question 2"]);
  });
});
