// What becomes of an engine whose database is taken away while it is open.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { createStores } from "../stores.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { sessionFile } from "../testing/session-file.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const EARLIER = [user("The key hangs behind the barometer."), assistant("Noted.")];

function withFile() {
  const moved: string[] = [];
  const agentDir = temporaryFolder();
  const engine = engineOn(createStores(agentDir, {}), { onMovedAway: (path) => moved.push(path) });
  onTestFinished(() => engine.dispose?.());
  const file = sessionFile(SESSION.sessionId, "f");
  file.say(...EARLIER);
  const { file: database, texts } = startLife({}, agentDir);
  const takeAway = () => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
  };
  return { engine, file, moved, database, texts, takeAway };
}

describe("a database that is deleted while it is open", () => {
  it("is noticed with the next turn, said once, and filled from the session file", async () => {
    const { engine, file, moved, database, texts, takeAway } = withFile();
    await engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    takeAway();
    const messages = withIds([user("And the ladder?"), assistant("Under the stairs.")]);
    expect((await engine.ingestBatch!({ ...SESSION, messages })).ingestedCount).toBe(2);
    expect(existsSync(database)).toBe(true);
    expect(texts().flat().map(textOf)).toEqual([
      "The key hangs behind the barometer.",
      "Noted.",
      "And the ladder?",
      "Under the stairs.",
    ]);
    await engine.assemble({ ...SESSION, messages, tokenBudget: 10_000 });
    expect(moved).toEqual([database]);

    takeAway();
    expect(await engine.control({ operation: "doctor" })).toMatchObject({
      text: `nothing is kept yet: there is no database ${database}`,
    });
    expect(existsSync(database)).toBe(false);
    await engine.assemble({ ...SESSION, messages, tokenBudget: 10_000 });
    expect(texts()).toHaveLength(4);
    expect(moved).toEqual([database, database]);
  });

  it("is another one from then on, also where its whole folder was moved", async () => {
    const { engine, tell, texts, file } = startLife();
    await tell(withIds([user("before")]));
    renameSync(dirname(file), `${dirname(file)}-elsewhere`);
    mkdirSync(dirname(file));
    await tell(withIds([user("after")]).map((message) => ({ ...message, id: "later" })));
    expect(texts()).toHaveLength(1);
    expect(await engine.control({ operation: "doctor" })).toMatchObject({
      text: expect.stringContaining("1 message of 1 conversation"),
    });
  });
});

describe("a call that is not done when its engine is disposed", () => {
  it("does its work all the same, and leaves no file open", async () => {
    const { engine, texts } = startLife();
    const messages = withIds(Array.from({ length: 40 }, (_, at) => user(`message ${at}`)));
    const calls = messages.map(async (message, at) => {
      await engine.ingest({ ...SESSION, message });
      if (at % 4 === 0) await engine.dispose?.();
      await engine.assemble({ ...SESSION, messages: [message], tokenBudget: 10_000 });
      return engine.compact({ ...SESSION, sessionFile: "none", tokenBudget: 10_000 });
    });
    for (const call of await Promise.allSettled(calls)) expect(call.status).toBe("fulfilled");
    await engine.dispose?.();
    expect(texts()).toHaveLength(messages.length);
  });
});

describe("what is no session file", () => {
  it("is said to be none where it is a folder", async () => {
    const { engine } = startLife();
    const folder = temporaryFolder();
    expect(await engine.bootstrap!({ ...SESSION, sessionFile: folder })).toEqual({
      ...{ bootstrapped: false, importedMessages: 0 },
      reason: `${folder} is no file`,
    });
    expect(await engine.compact({ ...SESSION, sessionFile: folder })).toMatchObject({ ok: true });
  });
});

const textOf = (block: unknown) =>
  typeof block === "string" ? block : (block as { text: string }).text;
