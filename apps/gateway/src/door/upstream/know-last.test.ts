import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { knowLast } from "./know-last.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const isMarked = (piece: Uint8Array) => Buffer.from(piece).includes("!");

async function readAll(bytes: AsyncIterable<Uint8Array>, holdMs?: number) {
  const known = knowLast(bytes, isMarked, holdMs);
  const read: { text: string; isOver: boolean }[] = [];
  for await (const piece of known.pieces)
    read.push({ text: new TextDecoder().decode(piece), isOver: known.isOver() });
  return read;
}

it("all pieces come in their order, and the last is known where it looks like one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.stringMatching(/^[a-c]{1,3}!?$/)), async (texts) => {
      async function* source() {
        for (const text of texts) yield bytesOf(text);
      }
      const read = await readAll(source());
      expect(read.map(({ text }) => text)).toEqual(texts);
      const places = read.flatMap(({ isOver }, place) => (isOver ? [place] : []));
      expect(places).toEqual(texts.at(-1)?.endsWith("!") ? [texts.length - 1] : []);
    }),
  );
});

it("a piece is not kept for an end that does not come", async () => {
  const ending = Promise.withResolvers<void>();
  async function* source() {
    yield bytesOf("a!");
    await ending.promise;
  }
  const known = knowLast(source(), isMarked, 10);
  const first = await known.pieces[Symbol.asyncIterator]().next();
  expect([new TextDecoder().decode(first.value), known.isOver()]).toEqual(["a!", false]);
  ending.resolve();
});

it("what breaks off breaks off behind all that came", async () => {
  async function* source() {
    yield bytesOf("a");
    yield bytesOf("b!");
    await sleep(1);
    throw new Error("broken");
  }
  const read: string[] = [];
  const { pieces, isOver } = knowLast(source(), isMarked);
  await expect(async () => {
    for await (const piece of pieces) read.push(new TextDecoder().decode(piece));
  }).rejects.toThrow("broken");
  expect([read, isOver()]).toEqual([["a", "b!"], false]);
});
