import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { readFileLines, readFilePart } from "./file-lines.ts";

const runs = { numRuns: fc.readConfigureGlobal().numRuns! / 5 };
/** Some are longer than the pieces a file is read in. */
const someLine = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 700_000 }).map((size) => "ü".repeat(size)) },
);

it("gives every line of a file with where it begins, however long it is", async () => {
  const file = join(await temporaryHome(), "lines");
  await fc.assert(
    fc.asyncProperty(fc.array(someLine), someLine, async (lines, unfinished) => {
      await writeFile(file, [...lines, unfinished].join("\n"));
      const found: { text: string; start: number }[] = [];
      const rest = await readFileLines(file, {}, (line, start) =>
        found.push({ text: line.toString("utf8"), start }),
      );
      expect(found.map(({ text }) => text)).toEqual(lines);
      expect(rest.bytes.toString("utf8")).toBe(unfinished);
      for (const { text, start } of [...found, { text: unfinished, start: rest.start }])
        expect((await readFilePart(file, start, start + Buffer.byteLength(text))).toString()).toBe(
          text,
        );
    }),
    runs,
  );
});

it("reads from a line on, and no further than it is told", async () => {
  const file = join(await temporaryHome(), "lines");
  await writeFile(file, "one\ntwo\nthree\nfour\n");
  const found: string[] = [];
  const rest = await readFileLines(file, { from: 4, to: 11 }, (line) => found.push(String(line)));
  expect(found).toEqual(["two"]);
  expect(rest).toMatchObject({ start: 8, end: 11 });
  expect(String(rest.bytes)).toBe("thr");
});
