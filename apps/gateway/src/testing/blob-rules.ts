// What every place for large bodies keeps, as tests that each of them passes.
import { createHash } from "node:crypto";
import type { Blobs } from "@clew/store-postgres";
import { describe, expect, it } from "vitest";

export const hashOf = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/** `open`: an empty one; `again`: another that looks at the same place. */
export function testBlobs(
  name: string,
  open: () => Promise<{ blobs: Blobs; again: () => Blobs; countOf(): Promise<number> }>,
): void {
  describe(`large bodies in ${name}`, () => {
    const bytesOf = (text: string) => new TextEncoder().encode(text);
    const put = async (blobs: Blobs, text: string, agentId = "main") => {
      const bytes = bytesOf(text);
      const hash = hashOf(bytes);
      await blobs.put({ agentId, hash }, bytes);
      return { agentId, hash };
    };
    const text = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes);

    it("come back as they were put, to the byte, for whoever looks", async () => {
      const { blobs, again } = await open();
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256);
      const name = { agentId: "main", hash: hashOf(bytes) };
      await blobs.put(name, bytes);
      expect(Buffer.from((await again().get(name))!).equals(bytes)).toBe(true);
      expect(await again().get({ ...name, hash: hashOf(bytesOf("other")) })).toBeNull();
      const part = bytes.subarray(1000, 2000);
      await blobs.put({ agentId: "main", hash: hashOf(part) }, part);
      expect(await again().get({ agentId: "main", hash: hashOf(part) })).toEqual(part.slice());
    });

    it("are given in ranges, as far as there is something", async () => {
      const { blobs } = await open();
      const name = await put(blobs, "0123456789");
      for (const [range, expected] of [
        [[0, 4], "0123"],
        [[3, 7], "3456"],
        [[8, 100], "89"],
        [[10, 20], ""],
        [[50, 60], ""],
        [[4, 4], ""],
      ] as const)
        expect(text(await blobs.get(name, range))).toBe(expected);
      const missing = { agentId: "main", hash: hashOf(bytesOf("none")) };
      expect(await blobs.get(missing, [0, 4])).toBeNull();
      expect(await blobs.get(missing, [4, 8])).toBeNull();
      expect(await blobs.get(missing, [4, 4])).toBeNull();
    });

    it("put twice are there once, and again after they were dropped", async () => {
      const { blobs, countOf } = await open();
      const name = await put(blobs, "same");
      await put(blobs, "same");
      await Promise.all([put(blobs, "same"), put(blobs, "same")]);
      expect(await countOf()).toBe(1);
      await blobs.drop("main", [name.hash]);
      await blobs.drop("main", [name.hash, hashOf(bytesOf("never there"))]);
      expect(await blobs.get(name)).toBeNull();
      expect(await countOf()).toBe(0);
      await put(blobs, "same");
      expect(text(await blobs.get(name))).toBe("same");
    });

    it("are each agent's own, whatever its name", async () => {
      const { blobs } = await open();
      const agents = ["main", "main2", "..", "a/b", "a b+c%", "Größe", ".2e.2e"];
      for (const agent of agents) await put(blobs, `of ${agent}`, agent);
      for (const agentId of agents) {
        const hash = hashOf(bytesOf(`of ${agentId}`));
        expect(await blobs.list(agentId, null)).toEqual([hash]);
        expect(text(await blobs.get({ agentId, hash }))).toBe(`of ${agentId}`);
      }
      const [first, ...others] = agents as [string, ...string[]];
      await blobs.drop(first, [hashOf(bytesOf(`of ${others[0]}`))]);
      expect(await blobs.list(others[0]!, null)).toHaveLength(1);
    });

    it("are listed in order, each once, and the rest behind one of them", async () => {
      const { blobs } = await open();
      const names = await Promise.all(
        Array.from({ length: 30 }, (_, index) => put(blobs, `body ${index}`)),
      );
      const hashes = names.map(({ hash }) => hash).sort();
      expect(await blobs.list("main", null)).toEqual(hashes);
      expect(await blobs.list("main", hashes[10]!)).toEqual(hashes.slice(11));
      expect(await blobs.list("main", hashes.at(-1)!)).toEqual([]);
      expect(await blobs.list("nobody", null)).toEqual([]);
    });

    it("may hold nothing", async () => {
      const { blobs } = await open();
      const name = await put(blobs, "");
      expect(await blobs.get(name)).toEqual(new Uint8Array());
      expect(await blobs.get(name, [0, 5])).toEqual(new Uint8Array());
    });
  });
}
