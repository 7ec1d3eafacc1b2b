import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createSessionList } from "./session-list.ts";
import { createSessionStore } from "./store.ts";

const said = (content: string) => ({
  type: "message" as const,
  message: { role: "user" as const, content, timestamp: 0 },
});

async function say(home: string, key: string, text: string): Promise<void> {
  const session = await createSessionStore({ home }).open({ key, cwd: home });
  await session.append([said(text)]);
  await session.close();
}

const namesIn = async (list: ReturnType<typeof createSessionList>) =>
  (await list.all()).map(({ key }) => key.slice("agent:main:".length));

describe("the list of sessions", () => {
  it("tells at once what this process wrote, whatever it knew before", async () => {
    const home = await temporaryHome();
    for (const key of ["one", "two", "three"]) await say(home, key, "first");
    const list = createSessionList(home);
    expect(await namesIn(list)).toEqual(["three", "two", "one"]);
    await say(home, "one", "again");
    expect(await namesIn(list)).toEqual(["one", "three", "two"]);
    await say(home, "four", "first");
    expect(await namesIn(list)).toEqual(["four", "one", "three", "two"]);
    await createSessionStore({ home }).remove("one");
    expect(await namesIn(list)).toEqual(["four", "three", "two"]);
    expect(await list.all()).toEqual(await createSessionList(home).all());
  });

  it("tells at once of files that others put there or take away, and later what they write", async () => {
    const home = await temporaryHome();
    await say(home, "one", "first");
    let time = 0;
    const list = createSessionList(home, { now: () => time });
    const [one] = await list.all();
    const folder = join(home, "agents/main/sessions");
    const header = { type: "session", version: 3, id: "other", timestamp: "2026-01-01T00:00:00Z" };
    await writeFile(join(folder, "other.jsonl"), `${JSON.stringify({ ...header, cwd: "/" })}\n`);
    expect(await namesIn(list)).toEqual(["other", "one"]);
    await rm(join(folder, "other.jsonl"));
    expect(await namesIn(list)).toEqual(["one"]);
    await appendFile(one!.file, "\n");
    time += 60_000;
    await list.all();
    await expect.poll(async () => (await list.all())[0]?.bytes).toBe(one!.bytes + 1);
    await mkdir(join(home, "agents/second/sessions"), { recursive: true });
    await say(home, "agent:second:s", "first");
    expect(await list.all()).toHaveLength(2);
    await rm(join(home, "agents/second"), { recursive: true });
    expect(await namesIn(list)).toEqual(["one"]);
  });
});
