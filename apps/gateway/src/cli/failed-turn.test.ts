import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { obedientModel } from "../testing/obedient-model.ts";

describe("a turn whose model failed", () => {
  it("is stored in its final form: no damage to the doctor, and never written again", async () => {
    const home = await homeWithOwnPort();
    const { config } = await obedientModel();
    const file = join(home, "clew.json");
    const { gateway } = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...config, gateway }));
    expect((await clew(home, ["chat", "FAIL"])).code).toBe(1);
    const folder = join(home, "agents/main/sessions");
    const stored = async () => {
      const [name] = (await readdir(folder)).filter((each) => each.endsWith(".jsonl"));
      return readFile(join(folder, name!), "utf8");
    };
    const first = await stored();
    const { output } = await clew(home, ["doctor"]);
    expect(output).toMatch(/^ok +sessions of main: 1 transcript/m);
    expect((await clew(home, ["chat", "FAIL"])).code).toBe(1);
    const { output: answer } = await clew(home, ["chat", "and now?"]);
    expect(answer).toContain("heard: and now?");
    const last = await stored();
    expect(last.startsWith(first)).toBe(true);
    expect(last).not.toContain("failed before it said anything");
  });
});
