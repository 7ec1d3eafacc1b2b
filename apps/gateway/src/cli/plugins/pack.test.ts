import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";

describe("clew plugins pack", () => {
  it("writes a file that can be installed, and says how", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "small"));
    const out = join(home, "made/small.tgz");
    const { code, output, errors } = await runClew(home, ["plugin", "pack", folder, "--out", out]);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(output).toMatch(/^Packed .*small\.tgz: 3 files, 1 KiB\. To install it: clew plugins i/);
  });

  it("says what would not work, and writes nothing", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "small"), { manifest: null });
    const checked = await runClew(home, ["plugins", "pack", folder, "--check"]);
    expect(checked.code).toBe(1);
    expect(checked.output).toMatch(
      /^failure {2}Clew, OpenClaw: It has no openclaw\.plugin\.json, .*\n.*would not work everywhere as npm packs it; "clew plugins pack .*$/,
    );
    const json = await runClew(home, ["plugins", "pack", folder, "--check", "--json"]);
    expect(JSON.parse(json.output)).toMatchObject({ file: null, findings: [{ level: "failure" }] });
  });
});
