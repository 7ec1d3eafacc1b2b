// A seeded choice of mutants, spread over the packages by the size of their cores.
import { type Mutant, mutantsOf } from "./generate.ts";
import { coreFiles } from "./places.ts";

export async function pickMutants(
  root: string,
  count: number,
  seed: number,
  files = coreFiles(root),
): Promise<Mutant[]> {
  const all = await mutantsOf(files);
  const random = mulberry32(seed);
  const drawn = all
    .map((mutant) => ({ mutant, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ mutant: { start, end, ...kept } }) => ({ ...kept, at: start - end === 0 ? 0 : start }));
  return drawn
    .sort((a, b) => a.file.localeCompare(b.file) || a.at - b.at)
    .map(({ at: _, ...mutant }) => mutant);
}

/** A small seeded generator, so that a list can be drawn again. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
