import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSigner, type Piece, type Reader, readThinking } from "./signed-thinking.ts";

const READER: Reader = {
  api: "a",
  account: "one",
  model: "m",
  bindsPrefix: true,
  mayDrop: false,
  latestTurn: -1,
};
const PREFACE = "system and tools";

/** Per turn of the model: true = thinking, false = words. */
const replies = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 8,
});

/** A conversation in which each reply was signed for what had been sent before it. */
function conversation(turns: readonly (readonly boolean[])[]): Piece[] {
  const pieces: Piece[] = [];
  for (const [turn, reply] of turns.entries()) {
    pieces.push({ kind: "said", meaning: `user ${turn}` });
    const read = readThinking(PREFACE, pieces, READER);
    if (read.kind === "refused") throw new Error(`${read.rule} at ${read.path}`);
    expect(read.dropped).toEqual([]);
    const signer = createSigner(READER, read);
    for (const [place, isThinking] of reply.entries()) {
      const words = `assistant ${turn} ${place}`;
      if (isThinking)
        pieces.push({ ...placeOf(turn, place), words, signature: signer.sign(words) });
      else {
        signer.said(words);
        pieces.push({ kind: "said", meaning: words });
      }
    }
  }
  return pieces;
}

const placeOf = (turn: number, place: number) =>
  ({ kind: "thinking", path: `${turn}.${place}`, turn }) as const;

describe("signed thinking", () => {
  it("is read for ever in a conversation that only grows", () => {
    fc.assert(
      fc.property(replies, (turns) => {
        const read = readThinking(PREFACE, conversation(turns), READER);
        expect(read).toMatchObject({ kind: "read", dropped: [] });
      }),
    );
  });

  it("is refused, or dropped from there on, after a change of what was said", () => {
    fc.assert(
      fc.property(replies, fc.nat(), (turns, random) => {
        const pieces = conversation(turns);
        const said = pieces.flatMap((piece, at) => (piece.kind === "said" ? [at] : []));
        const changed = said[random % said.length]!;
        const edited = pieces.with(changed, { kind: "said", meaning: "other words" });
        const after = edited
          .slice(changed)
          .flatMap((piece) => (piece.kind === "thinking" ? [piece.path] : []));
        const strict = readThinking(PREFACE, edited, READER);
        expect(strict).toMatchObject(
          after.length === 0
            ? { kind: "read", dropped: [] }
            : { kind: "refused", rule: "signature.prefix", path: after[0] },
        );
        const lenient = readThinking(PREFACE, edited, { ...READER, mayDrop: true });
        const dropped = lenient.kind === "read" ? lenient.dropped.map(({ path }) => path) : [];
        expect(dropped).toEqual(after);
      }),
    );
  });

  it("may lose what is oldest, as much of it as you like, and nothing in between", () => {
    fc.assert(
      fc.property(replies, fc.nat(), (turns, random) => {
        const pieces = conversation(turns);
        const signed = pieces.filter((piece) => piece.kind === "thinking");
        const without = (gone: readonly Piece[]) =>
          readThinking(
            PREFACE,
            pieces.filter((piece) => !gone.includes(piece)),
            READER,
          );
        const count = random % (signed.length + 1);
        expect(without(signed.slice(0, count))).toMatchObject({ kind: "read", dropped: [] });
        const inner = signed.slice(1, -1);
        if (inner.length === 0) return;
        expect(without([inner[random % inner.length]!])).toMatchObject({
          kind: "refused",
          rule: "signature.chain",
        });
      }),
    );
  });
});
