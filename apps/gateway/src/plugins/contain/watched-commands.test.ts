// What becomes of commands that load a plugin which means harm.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../terminal/exit-codes.ts";
import { clew, runClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";

async function homeWith(code: string): Promise<string> {
  const home = await temporaryHome();
  mkdirSync(home, { recursive: true });
  const folder = writePlugin(join(home, "sources/small"), { code });
  const settings = { gateway: { watchdogSeconds: 2 }, plugins: { load: { paths: [folder] } } };
  writeFileSync(join(home, "clew.json"), JSON.stringify(settings));
  return home;
}

it("a command ends as it would, whatever a plugin's exit listener says", async () => {
  const listener = 'process.on("exit", () => { process.exitCode = 8; });';
  const home = await homeWith(`${listener} export default { register() {} };`);
  const { code } = await runClew(home, ["plugins", "doctor"], { fromSource: true });
  expect(code).toBe(0);
});

it("a command waits for nothing that Clew itself opened to watch its plugins", async () => {
  const listener =
    'process.on("exit", () => console.error("left: " + process.getActiveResourcesInfo()));';
  const home = await homeWith(`${listener} export default { register() {} };`);
  const { errors } = await runClew(home, ["plugins", "doctor"], { fromSource: true });
  expect(errors).toMatch(/^left: (?!.*MessagePort)/m);
});

describe("a command that a plugin blocks", () => {
  it.each([
    ["at its import, in doctor", "for (;;);", ["doctor"]],
    ["in register, in a chat", "export default { register() { for (;;); } };", ["chat", "hi"]],
    ["at its import, in plugins doctor", "for (;;);", ["plugins", "doctor"]],
    ["at its import, in an inspection", "for (;;);", ["plugins", "inspect", "small", "--runtime"]],
    ["at its import, in a word that is none of ours", "for (;;);", ["strange"]],
  ])("ends and names it: %s", async (_, source, words) => {
    const home = await homeWith(source);
    const { code: exitCode, errors } = await runClew(home, words, { fromSource: true });
    expect(errors).toMatch(/Plugin "small" .*\(safe mode\)/);
    expect(exitCode).toBe(EXIT.blocked);
    const doctor = await clew(home, ["doctor"]);
    expect(doctor.output).toMatch(/plugin small: it is off in safe mode/);
    expect(readFileSync(join(home, "safe-mode.json"), "utf8")).toContain("small");
  });
});
