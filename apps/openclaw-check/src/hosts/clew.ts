// Drives Clew as it was built, by its own commands.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CONTEXT_WINDOW, type HostPlace, type TestedHost } from "./host.ts";
import { freePort, writeFiles } from "./place.ts";
import { run, start, stop, until, variablesFor } from "./process.ts";

const PROGRAM = fileURLToPath(new URL("../../../gateway/dist/main.js", import.meta.url));
const SESSION = "check";

interface StreamEvent {
  type: string;
  delta?: string;
  text?: string;
  outcome?: string;
}

export async function clew({ folder, baseUrl, variables }: HostPlace): Promise<TestedHost> {
  const [home, workspace] = [join(folder, "clew"), join(folder, "ws")];
  const port = await freePort();
  writeFiles(workspace);
  mkdirSync(home, { recursive: true });
  const model = { id: "gpt-fake", contextWindow: CONTEXT_WINDOW, maxTokens: 4096 };
  const config = {
    gateway: { port },
    agents: { defaults: { model: "fake/gpt-fake", workspace } },
    models: { providers: { fake: { api: "openai-completions", baseUrl, models: [model] } } },
  };
  writeFileSync(join(home, "clew.json"), JSON.stringify(config, null, 2));
  const env = variablesFor(join(folder, "home"), { CLEW_HOME: home, ...variables });
  const place = { cwd: folder, env };
  const url = `http://127.0.0.1:${port}/api`;
  let child: ReturnType<typeof start> | undefined;
  const send = async (text: string) => {
    const response = await fetch(`${url}/sessions/${SESSION}/messages`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      ...{ body: JSON.stringify({ text }), signal: AbortSignal.timeout(600_000) },
    });
    const events = eventsIn(await response.text());
    return { ok: response.ok, events };
  };
  return {
    ...{ name: "clew", version: "this checkout" },
    async install(archive) {
      // The packed lossless takes the place of the one that comes with Clew.
      const args = ["plugins", "install", archive, "--yes", "--force"];
      const { code, output } = await run(process.execPath, [PROGRAM, ...args], place);
      if (code !== 0) throw new Error(`"clew ${args.join(" ")}" failed: ${output}`);
    },
    async start() {
      child = start([PROGRAM, "start"], { ...place, log: join(folder, "clew.out") });
      await until("Clew's gateway", child, async () => (await fetch(`${url}/health`)).ok);
    },
    async stop() {
      if (child !== undefined) await stop(child);
      child = undefined;
    },
    async say(text) {
      const { ok, events } = await send(text);
      const end = events.at(-1);
      const said = events.flatMap(({ type, delta }) => (type === "text" ? [delta] : [])).join("");
      return {
        ok: ok && end?.type === "done" && end.outcome === "completed",
        text: said === "" ? JSON.stringify(end) : said,
      };
    },
    async compact() {
      const { ok, events } = await send("/compact");
      const text = events.flatMap((event) => event.text ?? []).join("\n");
      return { ok: ok && /ompacted: /.test(text), text };
    },
    readFile: (name) => ({ tool: "read_file", parameters: { path: name } }),
    async faultsOfEngine(engineId) {
      const answer = await fetch(`${url}/engine?session=${SESSION}`);
      const engine = (await answer.json()) as {
        engineId?: string;
        quarantined?: unknown;
        recent?: { degraded?: number; lastDegraded?: unknown; badViews?: number };
      };
      const { recent = {} } = engine;
      return [
        ...(engine.engineId === engineId ? [] : [`"${engine.engineId}" answers its session`]),
        ...(recent.degraded ? [`${recent.degraded} turns degraded: ${recent.lastDegraded}`] : []),
        ...(recent.badViews ? [`${recent.badViews} views could not be sent`] : []),
      ];
    },
  };
}

function eventsIn(text: string): StreamEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const data = block.split("\n").find((line) => line.startsWith("data: "));
    return data === undefined ? [] : [JSON.parse(data.slice(6)) as StreamEvent];
  });
}
