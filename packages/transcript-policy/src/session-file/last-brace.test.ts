import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repairSessionFileIfNeeded } from "../session-file.ts";

let folder: string;
let sessionFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-brace-"));
  sessionFile = join(folder, "session.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const timestamp = "2026-05-01T00:00:00.000Z";
const HEADER = `{"type":"session","version":3,"id":"session","timestamp":"${timestamp}","cwd":"/w"}`;
const said = (id: string, parentId: string | null) =>
  JSON.stringify({
    ...{ type: "message", id, parentId, timestamp },
    message: { role: "user", content: `said ${id}` },
  });
const A = said("a", null);
const B = said("b", "a");
const C = said("c", "b");

async function repaired(text: string, options: object = {}) {
  await writeFile(sessionFile, text);
  const report = await repairSessionFileIfNeeded({ sessionFile, ...options });
  return { report, lines: (await readFile(sessionFile, "utf8")).trimEnd().split("\n") };
}

const fileOf = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");

describe("an entry without its last brace", () => {
  const without = (entry: string) => entry.slice(0, -1);

  it("reads a message without its last brace, and keeps the line as it was beside", async () => {
    const { report, lines } = await repaired(fileOf(HEADER, A, without(B), C), {
      keepRemoved: true,
    });
    expect(lines).toEqual([HEADER, A, B, C]);
    expect(report).toMatchObject({ salvagedEntries: 1, droppedLines: 0 });
    expect(await readFile(report.keptIn!, "utf8")).toBe(`${without(B)}\n`);
  });

  it("reads several in a row, each with a comma for it, and one at the end of the file", async () => {
    const { lines } = await repaired(`${HEADER}\n${without(A)},\n${without(B)},\n${without(C)}`);
    expect(lines).toEqual([HEADER, A, B, C]);
  });

  it("lets a later line go on with an entry that could end where it was torn", async () => {
    const ODD = B.replace(/\}$/, ',"channel":7}');
    const at = ODD.indexOf(',"channel"');
    const { lines } = await repaired(
      fileOf(HEADER, A, ODD.slice(0, at), said("other", "a"), ODD.slice(at), C),
    );
    expect(lines).toEqual([HEADER, A, ODD, said("other", "a"), C]);
  });

  it("reads none whose message was torn, or that may have had more to say", async () => {
    const base = { id: "x", parentId: "a", timestamp };
    const torn = [
      JSON.stringify({ type: "message", ...base, message: { role: "user", content: "x" } }).slice(
        0,
        -2,
      ),
      without(JSON.stringify({ type: "compaction", ...base, summary: "Said." })),
      without(JSON.stringify({ type: "from_the_future", ...base, what: "x" })),
      without(JSON.stringify({ type: "custom", ...base, customType: "notes" })),
      without(JSON.stringify({ type: "custom", ...base, customType: "notes", data: 1234 })),
    ];
    for (const half of torn) {
      const { report, lines } = await repaired(fileOf(HEADER, A, half, B));
      expect(lines).toEqual([HEADER, A, B]);
      expect(report.droppedLines).toBe(1);
    }
  });

  it("reads none whose text runs into another entry", async () => {
    const torn = B.slice(0, B.indexOf("said b") + 3);
    const run = `${torn}${said("c", "b").slice(9)}`;
    const message = JSON.parse(`${run}}`);
    expect(message.message.parentId).toBe("b");
    const { lines } = await repaired(fileOf(HEADER, A, run, said("d", "a")));
    expect(lines).toEqual([HEADER, A, said("d", "a")]);
  });

  it("leaves a torn end to a host that cuts it off itself", async () => {
    const file = `${fileOf(HEADER, A)}${without(B)}`;
    const { report } = await repaired(file, { keepTornEnd: true });
    expect(report.repaired).toBe(false);
    expect(await readFile(sessionFile, "utf8")).toBe(file);
  });
});
