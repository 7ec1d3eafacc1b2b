import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAMAGE, type Damaged, Dice, plant } from "../__fixtures__/damage.ts";
import { repairSessionFileIfNeeded } from "../session-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-damage-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const latin = (bytes: Buffer) => bytes.toString("latin1");

/** An entry as it was written, but for its place in the tree. */
function withoutPlace(line: string): unknown {
  const {
    id: _id,
    parentId: _parentId,
    ...entry
  } = JSON.parse(Buffer.from(line, "latin1").toString());
  return entry;
}

/** What is wrong with the tree of a repaired file. */
function faultsOf(lines: readonly string[]): string[] {
  const entries: { id: string; parentId: string | null }[] = lines.map((line) => JSON.parse(line));
  const parents = new Map(entries.map(({ id, parentId }) => [id, parentId]));
  const faults = parents.size < entries.length ? ["an id is there twice"] : [];
  for (const { id } of entries) {
    const seen = new Set<string>();
    let at: string | null | undefined = id;
    while (typeof at === "string" && parents.has(at) && !seen.has(at)) {
      seen.add(at);
      at = parents.get(at);
    }
    if (typeof at === "string" && seen.has(at)) faults.push(`${id} is in a circle`);
    if (typeof at === "string" && !parents.has(at) && parents.get(entries[0]!.id) !== at)
      faults.push(`${id} follows nothing`);
  }
  return faults;
}

function check(
  repaired: Buffer,
  removed: string,
  { header, ...damaged }: Damaged & { header: Buffer },
) {
  const [first, ...lines] = latin(repaired).replace(/\n$/, "").split("\n");
  if (damaged.isHeaderLost === true)
    expect(JSON.parse(first!)).toMatchObject({
      type: "session",
      version: 3,
      id: JSON.parse(latin(header)).id,
    });
  else expect(first!.trim()).toBe(latin(header));
  expect(lines).toHaveLength(damaged.kept.length);
  for (const [at, kept] of damaged.kept.entries()) {
    const line = lines[at]!;
    const wanted = latin(kept);
    if (line === wanted || (damaged.near?.has(kept) === true && line === wanted.trim())) continue;
    expect(damaged.moved?.has(kept), `line ${at}: ${line}\nwanted: ${wanted}`).toBe(true);
    expect(withoutPlace(line)).toEqual(withoutPlace(wanted));
  }
  expect(faultsOf(lines)).toEqual([]);
  for (const rest of damaged.rest ?? []) expect(removed).toContain(latin(rest).trim());
}

describe("a session file that was damaged", () => {
  it.each(Object.entries(DAMAGE))("keeps all that can be read: %s", async (_name, damage) => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const dice = new Dice(seed);
        const planted = plant(dice, dice.between(4, 9));
        const damaged = damage(planted, dice);
        const home = await mkdtemp(join(folder, "home-"));
        const sessionFile = join(home, `${planted.id}.jsonl`);
        await writeFile(sessionFile, damaged.file);
        const { keptIn } = await repairSessionFileIfNeeded({ sessionFile, keepRemoved: true });
        const repaired = await readFile(sessionFile);
        const removed = keptIn === undefined ? "" : await readFile(keptIn, "latin1");
        check(repaired, removed, { ...damaged, header: planted.header });
        expect(await repairSessionFileIfNeeded({ sessionFile })).toEqual({
          repaired: false,
          droppedLines: 0,
        });
        expect(await readFile(sessionFile)).toEqual(repaired);
        expect(await readdir(home)).toHaveLength(keptIn === undefined ? 1 : 2);
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 20 },
    );
  });
});
