import { describe, expect, it } from "vitest";
import { noteWrite, writesSoFar, writtenSince } from "./writes.ts";

describe("what was written since", () => {
  it("are the files of later writes, each once", () => {
    noteWrite("a");
    const mark = writesSoFar();
    for (const file of ["b", "c", "b"]) noteWrite(file);
    expect(writtenSince(mark)).toEqual(["c", "b"]);
    expect(writtenSince(writesSoFar())).toEqual([]);
  });

  it("is not known any more of long ago", () => {
    const mark = writesSoFar();
    for (let file = 0; file < 2_000; file++) noteWrite(`${file}`);
    expect(writtenSince(mark)).toBeUndefined();
    expect(writtenSince(writesSoFar() - 10)).toHaveLength(10);
  });
});
