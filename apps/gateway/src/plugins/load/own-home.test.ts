import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, writePlugin } from "../../testing/plugins.ts";
import { createPluginHost } from "../host.ts";

/** Tells in a file of its home what each way to ask for the home answered. */
const CODE = `
  import os, { homedir, tmpdir } from "node:os";
  import * as all from "os";
  import { createRequire } from "node:module";
  import { mkdirSync, writeFileSync } from "node:fs";
  const ask = createRequire(import.meta.url)("./ask.cjs");
  export default { register() {
    const found = [homedir(), os.homedir(), all.homedir(), os.userInfo().homedir, ...ask()];
    mkdirSync(homedir() + "/.openclaw", { recursive: true });
    const told = { found, os: [tmpdir() === os.tmpdir(), os.EOL === all.EOL] };
    writeFileSync(homedir() + "/.openclaw/told.json", JSON.stringify(told));
  } };
`;
const ASK = `
  const os = require("os");
  module.exports = () => [os.homedir(), require("node:os").userInfo().homedir];
`;

async function load(entry: Record<string, unknown> = {}, code = CODE) {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "small"), { code, files: { "ask.cjs": ASK } });
  const plugins = { load: { paths: [folder] }, entries: { small: entry } };
  const host = await createPluginHost({ home, plugins, raw: { plugins }, log: collectLog() });
  expect(host.records()).toMatchObject([{ status: "loaded" }]);
  await host.close();
  return join(home, "plugin-data/small");
}

describe("a plugin that uses the home folder", () => {
  it("finds its own, by whatever way it asks, and all else as it is", async () => {
    const own = await load();
    const told = JSON.parse(readFileSync(join(own, ".openclaw/told.json"), "utf8"));
    expect(new Set(told.found)).toEqual(new Set([own]));
    expect(told.os).toEqual([true, true]);
  });

  it("finds the person's where the operator says so", async () => {
    const asks = `
      import { homedir } from "node:os";
      export default { register: (api) => { globalThis.foundHome = homedir(); } };
    `;
    const own = await load({ ownHome: false }, asks);
    expect((globalThis as { foundHome?: string }).foundHome).toBe(homedir());
    expect(existsSync(own)).toBe(false);
  });

  it("leaves no folder if it never asks", async () => {
    const own = await load(
      {},
      'import { EOL } from "node:os"; export default { register() { EOL; } };',
    );
    expect(existsSync(own)).toBe(false);
  });
});
