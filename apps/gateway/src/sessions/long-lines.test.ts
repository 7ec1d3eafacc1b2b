import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { checkpointFile } from "./checkpoint.ts";
import { createSessionStore } from "./store.ts";

const LONG = 'He said "no".\n\t不要 😀 \\ '.repeat(100_000);
const user = (content: string) => ({
  type: "message" as const,
  message: { role: "user" as const, content },
});

/** A session with a line of three megabytes, closed and without its checkpoint. */
async function longSession() {
  const home = await temporaryHome();
  const open = () => createSessionStore({ home }).open({ key: "main", cwd: home });
  const session = await open();
  await session.append([user("before")]);
  await session.compaction.append([user(LONG), user("together")]);
  const branch = JSON.stringify(session.branch());
  await session.close();
  const { sessionFile } = session.session;
  await rm(checkpointFile(sessionFile));
  return { open, branch, sessionFile };
}

describe("a line of megabytes", () => {
  it("is read as it was written", async () => {
    const { open, branch } = await longSession();
    const session = await open();
    expect(JSON.stringify(session.branch()) === branch).toBe(true);
    expect(session.notes).toEqual([]);
    await session.close();
  });

  it("counts only with the line that belongs to it", async () => {
    const { open, sessionFile } = await longSession();
    const bytes = await readFile(sessionFile);
    await truncate(sessionFile, bytes.lastIndexOf(10, bytes.length - 2) + 1);
    const session = await open();
    expect(session.branch()).toHaveLength(1);
    expect(session.notes).toMatchObject([{ kind: "torn-tail" }]);
    await session.close();
  });

  it("that is damaged is mended like any other", async () => {
    const { open, sessionFile } = await longSession();
    const text = await readFile(sessionFile, "utf8");
    await writeFile(sessionFile, text.replace('{"group":2}}\n', '{"group":2}}'));
    const session = await open();
    expect(session.branch()).toHaveLength(3);
    expect(session.notes).toMatchObject([{ kind: "repaired", report: { salvagedEntries: 2 } }]);
    await session.close();
  });
});
