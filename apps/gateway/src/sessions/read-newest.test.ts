import { appendFile, open, readFile, writeFile } from "node:fs/promises";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { readNewest } from "./read-newest.ts";
import { readTranscript } from "./read-transcript.ts";
import { createSessionStore } from "./store.ts";

const plain = (branch: readonly TranscriptEntry[]) => JSON.parse(JSON.stringify(branch));

async function session() {
  const home = await temporaryHome();
  const store = createSessionStore({ home, checkpointFrom: 0 });
  return { store, opened: await store.open({ key: "main", cwd: home }) };
}

const said = (content: string) => ({
  type: "message" as const,
  message: { role: "user" as const, content },
});

/** At least `count`, or undefined. */
function newest(file: string, count: number) {
  let left = count;
  return readNewest(file, () => --left <= 0);
}

it("the newest entries are the end of the branch, whatever was written, rewritten or left", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("append", "rewrite", "group"), fc.string()), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.integer({ min: 1, max: 15 }),
      async (steps, count) => {
        const { opened } = await session();
        await opened.append([said("first")]);
        for (const [step, text] of steps)
          if (step === "append") await opened.append([said(text)]);
          else if (step === "group") await opened.compaction.append([said(text), said("both")]);
          else
            await opened.rewrite({
              replacements: [
                {
                  entryId: opened.branch()[opened.branch().length >> 1]!.id,
                  message: said(text).message,
                },
              ],
            });
        await opened.close();
        const file = opened.session.sessionFile;
        const { branch } = await readTranscript(file);
        const found = await newest(file, count);
        expect(plain(found!.entries)).toEqual(plain(branch.slice(-count)));
        if (!found!.isWhole) expect(branch.length).toBeGreaterThan(count);
      },
    ),
  );
});

it("only the end of a large file is read, and the page of a session says so", async () => {
  const { store, opened } = await session();
  const long = "word ".repeat(20_000);
  for (let index = 0; index < 40; index++) await opened.append([said(`${index} ${long}`)]);
  await opened.close();
  const file = opened.session.sessionFile;
  const handle = await open(file, "r+");
  // Whoever read this part would find no entries there.
  await handle.write(Buffer.alloc(2_000_000, "x"), 0, 2_000_000, 1_000);
  await handle.close();
  const page = (await store.newest("main", 3))!;
  expect(page.totalEntries).toBeNull();
  expect(page.entries.map((entry) => JSON.stringify(entry).includes('"content":"3'))).toEqual([
    true,
    true,
    true,
  ]);
});

it("a file whose end is damaged, torn or of an older version has to be read whole", async () => {
  const { store, opened } = await session();
  for (const content of ["one", "two", "three"]) await opened.append([said(content)]);
  await opened.close();
  const file = opened.session.sessionFile;
  const whole = await readFile(file, "utf8");
  const damages: [string, string][] = [
    ["a damaged line", `${whole}{"type":"mess\n`],
    ["a torn line", `${whole}{"type":"mess`],
    ["an interrupted group", whole.replace(/}\n$/, ',"__clew":{"group":2}}\n')],
    ["a lost parent", whole.replace(/"parentId":"[^"]*"/, '"parentId":"nobody"')],
    ["an older version", whole.replace('"version":3', '"version":2')],
  ];
  for (const [name, text] of damages) {
    await writeFile(file, text);
    expect([name, await newest(file, 5)]).toEqual([name, undefined]);
    const { branch } = (await store.read("main"))!;
    const page = (await store.newest("main", 5))!;
    expect([name, page.totalEntries, plain(page.entries)]).toEqual([
      name,
      branch.length,
      plain(branch),
    ]);
  }
});

it("an entry that is nested too deeply for whoever writes it as JSON has a text there", async () => {
  const { opened } = await session();
  await opened.append([said("first")]);
  const [file, parentId] = [opened.session.sessionFile, opened.branch().at(-1)!.id];
  await opened.close();
  const deep = `${'{"a":['.repeat(20_000)}1${"]}".repeat(20_000)}`;
  const entry = { type: "message", id: "deep", parentId, timestamp: "2026-01-01", message: {} };
  const message = `{"role":"user","content":"Look inside.","details":${deep}}`;
  await appendFile(
    file,
    `${JSON.stringify(entry).replace('"message":{}', `"message":${message}`)}\n`,
  );
  const found = await newest(file, 1);
  // Where one object has a method of its own, JSON is written by recursion.
  const written = JSON.stringify({ found, toJSON: () => ({ found }) });
  expect(written).toContain("Look inside.");
  expect(written).toContain("[left out: nested deeper than 200 levels]");
});
