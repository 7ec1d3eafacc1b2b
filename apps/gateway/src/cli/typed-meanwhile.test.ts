import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldModel } from "../testing/held-model.ts";
import { temporaryHome } from "../testing/home.ts";
import { clewAtTerminal, hasTerminals } from "../testing/terminal.ts";

const SOON = { timeout: 90_000 };

describe.skipIf(!hasTerminals)("what is typed while a reply is written", () => {
  it("waits, is listed, is taken back, and has its turn when the reply is there", async () => {
    const model = await heldModel();
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(model.config));
    const terminal = clewAtTerminal(home, ["chat"]);
    const shows = (text: string) => expect.poll(terminal.shown, SOON).toContain(text);
    await shows("Ctrl-D quits");
    terminal.type("one\r");
    const first = await model.asked();
    first.say("Begun,");
    await shows("Begun,");
    terminal.type("two\r");
    await shows("waits: two");
    terminal.type("three\r");
    await shows("waits: three");
    // What was just typed may be on its way to the list.
    const list = () => {
      const shown = terminal.shown();
      if (!shown.includes("2. three")) terminal.type("/waiting\r");
      return shown;
    };
    await expect.poll(list, { ...SOON, interval: 3000 }).toContain("2. three");
    terminal.type("/waiting cancel 2\r");
    await shows("Taken back: three");
    first.finish();
    const second = await model.asked();
    second.say("Second.");
    second.finish();
    await shows("Second.");
    await expect.poll(() => terminal.shown().split("> ").length, SOON).toBeGreaterThan(2);
    terminal.type("\u0004");
    expect(await terminal.exit).toBe(0);
  });
});
