// Whether the plugin that comes with Clew runs in another host, from what is published alone.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { packFolder } from "./pack.ts";
import { readTarball } from "./tarball.ts";

const run = promisify(execFile);

/** What a host does with it: a turn is told, and shown. */
const HOST = `
  const { openclaw } = (await import("./package.json", { with: { type: "json" } })).default;
  const { default: plugin } = await import(openclaw.extensions[0]);
  const engines = [];
  plugin.register({
    pluginConfig: {},
    logger: console,
    resolvePath: (path) => path,
    registerContextEngine: (_id, factory) => engines.push(factory),
    registerTool: () => {},
    registerCommand: () => {},
  });
  const engine = await engines[0]({ agentDir: "agent" });
  const session = { sessionId: "s", sessionKey: "agent:main:s" };
  const messages = [{ role: "user", content: "hello", timestamp: 1, __openclaw: { id: "e1" } }];
  const { ingestedCount } = await engine.ingestBatch({ ...session, messages });
  const view = await engine.assemble({ ...session, messages, tokenBudget: 9000 });
  await engine.dispose();
  console.log(plugin.id, engine.info.id, ingestedCount, view.messages.length);
`;

it("the packed lossless plugin works where nothing of ours is installed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clew-plugin-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { file } = await packFolder(process.cwd(), "packages/lossless-engine", folder);
  const files = readTarball(join(folder, file));
  const place = join(folder, "plugin");
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), bytes);
  }
  const manifest = JSON.parse(files.get("package.json")!.toString());
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"])
    expect(manifest).not.toHaveProperty(kind);
  const node = [process.execPath, ["--input-type=module", "--eval", HOST], { cwd: place }] as const;
  const { stdout } = await run(...node);
  expect(stdout).toBe("lossless lossless 1 1\n");
});
