import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { type DiverCall, dive, writeDiver } from "../testing/diver.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway } from "../testing/plugins.ts";

/** Long enough to be kept apart from its message. */
const TASK = "count the lamps of the lighthouse ".repeat(300).trimEnd();

/** Two agents with the lossless engine, and one that is answered by another. */
async function startGateway() {
  const home = await temporaryHome();
  writeDiver(home);
  const { config } = await obedientModel();
  const list = [{ id: "main" }, { id: "second" }, { id: "plain", engine: "legacy" }];
  const agents = { ...config.agents, list };
  const plugins = { slots: { contextEngine: "lossless" } };
  const started = await startPluginGateway({ ...config, agents, plugins }, home);
  for (const { id } of list) await started.say("This stays.", { session: `agent:${id}:main` });
  return { home, ...started };
}

/** Conversations of sessions that no person talked in. */
const OTHERS = `conversation NOT IN (SELECT conversation FROM transcript
  WHERE session_key LIKE 'agent:%' AND session_key NOT LIKE '%:subagent:%')`;

/** How many rows of each table and index are of such sessions, or of none. */
function rowsOfOthers(home: string, agentId: string): Record<string, number> {
  const db = new DatabaseSync(join(home, "agents", agentId, "clew-lossless/lossless.db"));
  const count = (question: string) =>
    Number(db.prepare(`SELECT count(*) AS number FROM ${question}`).get()?.number);
  const tables = ["message", "cut", "summary", "graph", "advancement", "change"];
  try {
    return {
      ...Object.fromEntries(tables.map((table) => [table, count(`${table} WHERE ${OTHERS}`)])),
      payload: count(`payload WHERE id NOT IN (SELECT payload FROM payload_use
        JOIN message ON seq = message WHERE NOT ${OTHERS})`),
      cursor: count(`cursor JOIN transcript ON transcript.id = transcript WHERE ${OTHERS}`),
      names: count("transcript WHERE session_key LIKE '%:subagent:%'"),
      words: count(`words WHERE rowid NOT IN (SELECT seq FROM message WHERE NOT ${OTHERS})`),
      unindexed: count("unindexed WHERE message NOT IN (SELECT seq FROM message)"),
    };
  } finally {
    db.close();
  }
}

const NOTHING = {
  ...{ message: 0, cut: 0, summary: 0, graph: 0, advancement: 0, change: 0, payload: 0 },
  ...{ cursor: 0, names: 0, words: 0, unindexed: 0 },
};

const SPAWNS: Record<string, { agentId?: string; [field: string]: unknown }> = {
  "of its parent's agent": {},
  "without a look at its parent": { lightContext: true },
  "that begins with its parent's history": { contextMode: "fork" },
  "of another agent": { agentId: "second" },
};

describe("the lossless engine", () => {
  it.each(Object.keys(SPAWNS))("keeps nothing of a child that is deleted, %s", async (kind) => {
    const { home, say } = await startGateway();
    const { agentId = "main" } = SPAWNS[kind]!;
    const spawn = { task: TASK, wait: true, ...SPAWNS[kind] };
    const { reply } = await say(run("sessions_spawn", { ...spawn, cleanup: "delete" }));
    expect(textOf(reply!)).toContain("It has completed.");
    expect(rowsOfOthers(home, agentId)).toEqual(NOTHING);

    await say(run("sessions_spawn", { ...spawn, cleanup: "keep" }));
    expect(rowsOfOthers(home, agentId)).toMatchObject({ message: expect.any(Number), names: 1 });
    expect(rowsOfOthers(home, agentId).message).toBeGreaterThan(1);
  });

  it("keeps nothing of one whose parent another engine answers, nor of one that is below it", async () => {
    const { home, say } = await startGateway();
    const below = run("sessions_spawn", { task: TASK, wait: true, cleanup: "delete" });
    const ask = { task: below, wait: true, cleanup: "delete", agentId: "second" };
    const { reply } = await say(run("sessions_spawn", ask), { session: "agent:plain:main" });
    expect(textOf(reply!)).toContain("It has completed.");
    expect(rowsOfOthers(home, "second")).toEqual(NOTHING);
  });

  it("keeps nothing of a session that a plugin began and deleted", async () => {
    const { home, say } = await startGateway();
    const sessionKey = "agent:main:subagent:dive";
    const begin: DiverCall[] = [
      ["run", { sessionKey, message: TASK, idempotencyKey: "one" }],
      ["waitForRun", { runId: "one", timeoutMs: 20_000 }],
    ];
    await say(dive(begin));
    expect(rowsOfOthers(home, "main")).toMatchObject({ names: 1 });
    await say(dive([["deleteSession", { sessionKey }]]));
    expect(rowsOfOthers(home, "main")).toEqual(NOTHING);
  });
});
