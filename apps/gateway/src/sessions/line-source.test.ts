import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { fileLines } from "./line-source.ts";

it("a line is what stands at its place, in whatever order lines are asked for", async () => {
  const file = join(await temporaryHome(), "lines");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20_000 })), {
        minLength: 1,
        maxLength: 40,
      }),
      fc.array(fc.nat(), { maxLength: 60 }),
      async (words, order) => {
        const lines = words.map(([word, times]) => word.replaceAll("\n", " ").repeat(times % 2000));
        await writeFile(file, lines.map((line) => `${line}\n`).join(""));
        let end = 0;
        const places = lines.map((line) => {
          const place = { start: end, length: Buffer.byteLength(line) };
          end += place.length + 1;
          return place;
        });
        const source = fileLines(file);
        for (const at of [...order, ...lines.keys()]) {
          const index = at % lines.length;
          expect(source.read(places[index]!)).toBe(lines[index]);
        }
      },
    ),
  );
});
