import { mkdir, readdir, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createPartSweeper, isSweepDue } from "./part-sweeper.ts";
import { openReportLog, readPart } from "./report-log.ts";
import { removeUnnamedParts } from "./unnamed-parts.ts";

const QUIET = { warn: (text: string) => expect(text).toBe("nothing to warn of") };
const hashOf = (index: number) => `part-${String(index).padStart(16, "0")}`;

async function folderOf({ parts, named }: { parts: number; named: readonly number[] }) {
  const folder = await temporaryHome();
  await mkdir(join(folder, "parts"));
  const old = new Date(Date.now() - 86_400_000);
  for (let index = 0; index < parts; index++) {
    const file = join(folder, "parts", hashOf(index));
    await writeFile(file, `${index}`);
    await utimes(file, old, old);
  }
  await writeFile(join(folder, "s.jsonl"), `${JSON.stringify(named.map(hashOf))}\n`);
  return { folder, left: async () => (await readdir(join(folder, "parts"))).toSorted() };
}

describe("parts that no report names", () => {
  it("are looked for once for as many deleted sessions as there are left", () => {
    expect(isSweepDue({ deleted: 49, left: 0 })).toBe(false);
    expect(isSweepDue({ deleted: 50, left: 0 })).toBe(true);
    expect(isSweepDue({ deleted: 999, left: 1000 })).toBe(false);
    expect(isSweepDue({ deleted: 1000, left: 1000 })).toBe(true);
  });

  it("go when enough sessions were deleted, and named or new ones stay", async () => {
    const { folder, left } = await folderOf({ parts: 4, named: [1] });
    const now = new Date();
    await utimes(join(folder, "parts", hashOf(2)), now, now);
    const sweeper = createPartSweeper({ log: QUIET });
    for (let count = 0; count < 49; count++) sweeper.deleted(folder);
    expect(await left()).toHaveLength(4);
    sweeper.deleted(folder);
    await expect.poll(left).toEqual([hashOf(1), hashOf(2)]);
    await sweeper.close();
  });

  it("that were being removed when a process ended come back where they are named", async () => {
    const { folder, left } = await folderOf({ parts: 2, named: [1] });
    for (const index of [0, 1]) {
      const file = join(folder, "parts", hashOf(index));
      await rename(file, `${file}.going`);
    }
    await removeUnnamedParts(folder, { olderThanMs: 1000 });
    expect(await left()).toEqual([hashOf(1)]);
  });

  it("are there where a report was stored, whatever is removed beside it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }), async (wanted) => {
        const { folder } = await folderOf({ parts: 6, named: [] });
        const log = openReportLog(folder, "other");
        const removals = [1, 2, 3].map(() => removeUnnamedParts(folder, { olderThanMs: 1000 }));
        for (const index of wanted)
          await log.append({ modelCalls: [] } as never, { [hashOf(index)]: `content ${index}` });
        await Promise.all(removals);
        await log.close();
        for (const index of wanted) expect(await readPart(folder, hashOf(index))).not.toBeNull();
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 2 },
    );
  });
});
