// What is written to an open file, few bytes and many.
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FEW_BYTES, writeBytes } from "./write-bytes.ts";

describe("writeBytes", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "clew-write-bytes-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  for (const length of [0, 1, FEW_BYTES, FEW_BYTES + 1])
    it(`writes ${length} bytes at a position and at the end`, async () => {
      const bytes = Buffer.alloc(length, "b");
      const placed = join(folder, "placed");
      await writeFile(placed, "aaaa");
      const handle = await open(placed, "r+");
      await writeBytes(handle, bytes, 2);
      await handle.close();
      const appended = join(folder, "appended");
      await writeFile(appended, "aaaa");
      const atEnd = await open(appended, "a");
      await writeBytes(atEnd, bytes, null);
      await writeBytes(atEnd, Buffer.from("c"), null);
      await atEnd.close();
      expect(await readFile(placed, "utf8")).toBe(`aa${"b".repeat(length)}${"aa".slice(length)}`);
      expect(await readFile(appended, "utf8")).toBe(`aaaa${"b".repeat(length)}c`);
    });

  it("writes what the system takes in several pieces", async () => {
    const taken: string[] = [];
    const bytes = Buffer.alloc(FEW_BYTES * 3, "x");
    const file = {
      fd: -1,
      write: async (given: Uint8Array, from: number, length: number, at: number | null) => {
        const bytesWritten = Math.min(length, FEW_BYTES);
        taken.push(`${from} at ${at}`);
        return { bytesWritten, buffer: given };
      },
    };
    await expect(writeBytes(file as never, bytes, 10)).rejects.toThrow();
    expect(taken).toEqual([`0 at 10`, `${FEW_BYTES} at ${10 + FEW_BYTES}`]);
  });
});
