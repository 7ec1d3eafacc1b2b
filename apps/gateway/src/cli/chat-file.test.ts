import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";

describe("clew chat --file", () => {
  it("sends all lines of a file, or of the input, as one message", async () => {
    const home = await homeWithOwnPort();
    const file = join(home, "message.txt");
    await writeFile(file, "My cat is called Minka.\nMy dog is called Rex.\n");
    expect((await clew(home, ["chat", "--file", file])).code).toBe(0);
    const piped = startClew(home, ["chat", "--file", "-", "-s", "piped"]);
    piped.process.stdin!.end("/status is the first of\nthree\nlines\n");
    expect(await piped.exit).toBe(0);
    for (const session of ["main", "piped"]) {
      const { output } = await clew(home, ["chat", "-s", session, "/status"]);
      expect(output).toContain("2 messages");
    }
  });

  it("says what is wrong with what it is given", async () => {
    const home = await homeWithOwnPort();
    const missing = await clew(home, ["chat", "--file", join(home, "none.txt")]);
    expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining("none.txt")]);
    const twice = await clew(home, ["chat", "hello", "--file", "-"]);
    expect([twice.code, twice.errors]).toEqual([2, expect.stringContaining("given twice")]);
  });
});
