import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { undoCompaction } from "@clew/legacy-engine";
import { type AgentMessage, messageId, type UserMessage } from "@clew/plugin-sdk/core";
import {
  buildContext,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import type { OpenSession } from "./open.ts";
import { createSessionStore } from "./store.ts";

const said = (message: AgentMessage): NewTranscriptEntry => ({ type: "message", message });
const user = (content: string, extras: Partial<UserMessage> = {}): AgentMessage => ({
  role: "user",
  content,
  ...extras,
});
const opened = (home: string) => createSessionStore({ home }).open({ key: "main", cwd: home });
const ids = (branch: readonly TranscriptEntry[]) => buildContext(branch).items.map(({ id }) => id);
const linesOf = async ({ session }: OpenSession) =>
  (await readFile(session.sessionFile, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const messageOf = (entry: TranscriptEntry | undefined) =>
  entry?.type === "message" ? entry.message : undefined;

describe("a stored message", () => {
  it("has the id of its entry, in memory and in the file", async () => {
    const session = await opened(await temporaryHome());
    const [entry] = await session.append([said(user("one", { __openclaw: { runId: "r" } }))]);
    expect(messageOf(entry)?.__openclaw).toEqual({ runId: "r", id: entry!.id });
    expect(session.branch()[0]).toBe(entry);
    expect((await linesOf(session))[1]).toEqual(entry);
    await session.close();
  });

  it("keeps the id it came with, as in a transcript that another one goes on in", async () => {
    const session = await opened(await temporaryHome());
    const [entry] = await session.append([said(user("one", { __openclaw: { id: "before" } }))]);
    expect(messageId(messageOf(entry)!)).toBe("before");
    await session.close();
  });

  it("has an id on the branch also when its file has none, of any version", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    const stamp = "2025-01-01T00:00:00.000Z";
    const line = (place: object) => ({ type: "message", timestamp: stamp, ...place, message: {} });
    for (const version of [1, 3]) {
      const place = version === 1 ? {} : { id: "aaaaaaaa", parentId: null };
      const file = [
        { type: "session", id: `v${version}`, timestamp: stamp, cwd: "/x", version },
        { ...line(place), message: user("one") },
      ];
      const text = file.map((each) => `${JSON.stringify(each)}\n`).join("");
      await writeFile(join(folder, `v${version}.jsonl`), text);
      const session = await createSessionStore({ home }).open({ key: `v${version}`, cwd: home });
      const [entry] = session.branch();
      expect(messageId(messageOf(entry)!)).toBe(entry!.id);
      await session.close();
    }
  });

  it("cannot be changed through what the store was given, or hands out", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    const content = [{ type: "text" as const, text: "as it was said" }];
    const [entry] = await session.append([said({ role: "user", content })]);
    content[0]!.text = "changed by whoever appended it";
    const block = (messageOf(session.branch()[0]) as { content: { text: string }[] }).content[0]!;
    expect(() => {
      block.text = "changed by whoever read it";
    }).toThrow(TypeError);
    const replaced = [{ type: "text" as const, text: "rewritten" }];
    await session.rewrite({
      replacements: [{ entryId: entry!.id, message: { role: "user", content: replaced } }],
    });
    replaced[0]!.text = "changed by whoever rewrote it";
    await session.append([{ type: "custom", customType: "c", data: { deep: ["as it was"] } }]);
    const before = JSON.stringify(session.branch());
    expect(before).not.toContain("changed by");
    await session.close();
    const again = await opened(home);
    expect(JSON.stringify(again.branch())).toBe(before);
    expect(() => Object.assign(again.branch()[1]!, { data: 1 })).toThrow(TypeError);
    await again.close();
  });

  it("is the same object after a rewrite of what came before it: it is not copied again", async () => {
    const session = await opened(await temporaryHome());
    const [first, second] = await session.append([said(user("one")), said(user("two"))]);
    await session.rewrite({ replacements: [{ entryId: first!.id, message: user("1") }] });
    expect(messageOf(session.branch()[1])).toBe(messageOf(second));
    await session.close();
  });
});

describe("a rewritten message", () => {
  it("is still the one it replaces, whatever the engine wrote on it", async () => {
    const session = await opened(await temporaryHome());
    const written = { senderId: "u7", kind: "heartbeat" } as const;
    const entries = await session.append([
      said(user("one", { __openclaw: written })),
      said(user("two")),
    ]);
    await session.rewrite({
      replacements: [
        { entryId: entries[0]!.id, message: user("1", { __openclaw: { id: "mine", mine: 1 } }) },
        { entryId: entries[1]!.id, message: user("2") },
      ],
    });
    expect(session.branch().map((entry) => messageOf(entry)?.__openclaw)).toEqual([
      { ...written, id: entries[0]!.id },
      { id: entries[1]!.id },
    ]);
    await session.close();
  });

  it("is no rewrite when only the id, or the order of the fields, is another", async () => {
    const session = await opened(await temporaryHome());
    const [entry] = await session.append([said(user("one", { timestamp: 1 }))]);
    const message: AgentMessage = { timestamp: 1, content: "one", role: "user" };
    expect(
      await session.rewrite({ replacements: [{ entryId: entry!.id, message }] }),
    ).toMatchObject({ changed: false, reason: "no changed matching message entries" });
    await session.close();
  });

  it("that is no message is refused in one sentence, and nothing is written", async () => {
    const session = await opened(await temporaryHome());
    const [entry] = await session.append([said(user("one"))]);
    const before = await linesOf(session);
    const cyclic: Record<string, unknown> = { role: "user", content: "x" };
    cyclic.self = cyclic;
    const refused: [unknown, string][] = [
      [{ role: "banana" }, "its role is missing or invalid"],
      [{ role: "user", content: null }, "its content is missing or invalid"],
      [{ role: "assistant", content: null }, "its content is missing or invalid"],
      [{ role: "user" }, "its content is missing or invalid"],
      [{ role: "bashExecution", command: 1 }, "its command is missing or invalid"],
      [null, "its role is missing or invalid"],
      [undefined, "it is not plain data that JSON can hold"],
      [cyclic, "it is not plain data that JSON can hold"],
      [{ role: "user", content: 1n }, "it is not plain data that JSON can hold"],
    ];
    for (const [message, why] of refused)
      await expect(
        session.rewrite({
          replacements: [{ entryId: entry!.id, message: message as AgentMessage }],
        }),
      ).rejects.toMatchObject({
        code: "REQUEST_INVALID",
        message: `The transcript was not rewritten: the replacement of entry ${entry!.id} is no message, ${why}; give a whole message of a known role.`,
      });
    expect(await linesOf(session)).toEqual(before);
    expect(messageOf(session.branch()[0])).toMatchObject({ content: "one" });
    await session.close();
  });
});

describe("the ids of a branch", () => {
  const note: NewTranscriptEntry = { type: "custom_message", customType: "n", content: "c" };
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant("say" as const) },
    { weight: 1, arbitrary: fc.constant("note" as const) },
    { weight: 2, arbitrary: fc.nat().map((at) => ({ rewrite: at })) },
    { weight: 2, arbitrary: fc.constant("compact, talk, undo" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  );

  it("stay the same for good: over rewrites, undone compactions and restarts", async () => {
    const home = await temporaryHome();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const store = createSessionStore({ home });
        const open = (key: string) => store.open({ key, cwd: home });
        const key = `run-${number++}`;
        let session = await open(key);
        const expected: string[] = [];
        const append = async (...entries: NewTranscriptEntry[]) => {
          for (const entry of await session.append(entries)) expected.push(entry.id);
        };
        await append(said(user("first")));
        for (const each of steps) {
          if (each === "say") await append(said(user("more")), said(user("and more")));
          else if (each === "note") await append(note);
          else if (each === "restart") {
            await session.close();
            session = await open(key);
          } else if (each === "compact, talk, undo") {
            const { compaction } = session;
            const firstKeptEntryId = session.branch().at(-1)!.id;
            await compaction.append([
              { type: "compaction", summary: "s", firstKeptEntryId, tokensBefore: 9 },
            ]);
            await append(said(user("since")), note);
            await undoCompaction({ transcript: compaction, nextId: compaction.nextId });
          } else {
            const entries = session.branch().filter(({ type }) => type === "message");
            const entryId = entries[each.rewrite % entries.length]!.id;
            const message = user(`rewritten ${number++}`);
            await session.rewrite({ replacements: [{ entryId, message }] });
          }
          expect(ids(session.branch())).toEqual(expected);
        }
        await session.close();
      }),
      // A case is up to a dozen writes that wait for the disk.
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});
