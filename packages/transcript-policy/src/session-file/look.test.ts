import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type LineLook,
  lookAtLines,
  lookWhileReading,
  repairSessionFileIfNeeded,
} from "../session-file.ts";

let folder: string;
let sessionFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-look-"));
  sessionFile = join(folder, "session.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const timestamp = "2026-05-01T00:00:00.000Z";
const HEADER = `{"type":"session","version":3,"id":"session","timestamp":"${timestamp}","cwd":"/w"}`;
const said = (id: string, parentId: string | null, content: unknown = `said ${id}`, more = {}) =>
  JSON.stringify({
    ...{ type: "message", id, parentId, timestamp },
    message: { role: "user", content, ...more },
  });
const A = said("a", null);
const B = said("b", "a");
const CALL = said("b", "a", [{ type: "toolCall", id: "c1", name: "read", arguments: {} }], {
  ...{ role: "assistant", stopReason: "toolUse" },
  ...{ api: "openai-chatgpt-responses", provider: "openai" },
});

/** Tells a look of lines, as a host does that reads them. */
function tell({ add }: Pick<LineLook, "add">, lines: readonly string[]) {
  for (const line of lines) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {}
    if (line.trim() !== "") add(Buffer.from(line), value);
  }
}

async function lookAt(lines: readonly string[]) {
  await writeFile(sessionFile, lines.map((line) => `${line}\n`).join(""));
  const look = (await lookWhileReading(sessionFile))!;
  tell(look, lines);
  return look;
}

function isOrderly(lines: readonly string[]): Promise<boolean> {
  const look = lookAtLines("session.jsonl");
  tell(look, lines);
  return look.isOrderly();
}

describe("a look at lines while they are read", () => {
  it.each([
    ["a header and entries", [HEADER, A, B]],
    ["blank lines", [HEADER, "", A, "  ", B]],
    ["branches", [HEADER, A, B, said("c", "a")]],
  ])("spares a file with %s the reading of a repair", async (_what, lines) => {
    const look = await lookAt(lines);
    expect(await look.orderly()).toBeDefined();
    expect(await isOrderly(lines)).toBe(true);
    const report = await repairSessionFileIfNeeded({ sessionFile, look });
    expect(report).toEqual({ repaired: false, droppedLines: 0 });
  });

  it.each([
    ["a torn line", [HEADER, A, B.slice(0, 40)]],
    ["a lost parent", [HEADER, A, said("c", "gone")]],
    ["an id that is there twice", [HEADER, A, B, said("b", "a", "another")]],
    ["a line that is there twice", [HEADER, A, B, B]],
    ["a blank message", [HEADER, A, said("b", "a", [{ type: "text", text: " " }])]],
    ["a call that needs a result", [HEADER, A, CALL]],
    ["no header", [A, B]],
    ["a header behind the first line", [A, HEADER, B]],
    ["two entries on one line", [HEADER, A + B]],
  ])("leaves a file with %s to the repair", async (_what, lines) => {
    const look = await lookAt(lines);
    expect(await look.orderly()).toBeUndefined();
    expect(await isOrderly(lines)).toBe(false);
    const before = await readFile(sessionFile, "utf8");
    const { repaired } = await repairSessionFileIfNeeded({ sessionFile, look });
    expect(repaired).toBe((await readFile(sessionFile, "utf8")) !== before);
    expect(repaired).toBe(true);
  });

  it("says nothing of a file that was changed since", async () => {
    const look = await lookAt([HEADER, A, B]);
    await writeFile(sessionFile, `${HEADER}\n${A}\n${B.slice(0, 20)}\n`);
    const report = await repairSessionFileIfNeeded({ sessionFile, look });
    expect(report).toMatchObject({ repaired: true, droppedLines: 1 });
  });
});
